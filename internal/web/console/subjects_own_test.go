package console_test

import (
	"context"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/subject"
)

// TestOfficerAnswersPeople: a partner's officer sees how much the partner holds about a person, hands out the copy, asks
// for the erasure and takes it back, and reports an incident; of other partners nothing, although they have the same
// person.
func TestOfficerAnswersPeople(t *testing.T) {
	d, ctx := newAdmin(t), context.Background()
	own, other := d.tenant("Aurora", operator.PartnerRoles()...), d.tenant("Boreal", operator.Officer)
	d.leak(own, other)
	me, stranger := d.as(own.people[operator.Officer]), d.as(other.people[operator.Officer])
	const cpf, why = "529.982.247-25", "protocolo 12"
	_, page := me.post(200, "/subjects/find", "cpf", cpf, "reason", why)
	if !strings.Contains(page, "1 assinatura") || !strings.Contains(page, "Pedir o apagamento") ||
		strings.Contains(page, "Boreal") || strings.Contains(page, "/subjects/access") {
		t.Error(page)
	}
	_, copied := me.post(200, "/subjects/export", "cpf", cpf, "reason", why, "format", "json")
	if !strings.Contains(copied, string(own.ID)) || strings.Contains(copied, string(other.ID)) {
		t.Error("the copy:", copied)
	}
	for _, path := range []string{"/subjects/find", "/subjects/export", "/subjects/requests", "/incidents"} {
		me.post(404, path, "cpf", cpf, "reason", why, "confirm", "APAGAR", "partner", string(other.ID))
	}
	me.post(403, "/subjects/erase", "cpf", cpf, "reason", why, "confirm", "APAGAR")
	me.post(403, "/subjects/access", "cpf", cpf, "reason", why)

	me.post(422, "/subjects/requests", "cpf", cpf, "reason", why, "confirm", "apagar")
	me.post(303, "/subjects/requests", "cpf", cpf, "reason", why, "confirm", "APAGAR")
	open := func() []subject.ErasureRequest {
		t.Helper()
		list, err := d.app.Erasures.ListOpenErasures(ctx, own.ID)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	asked := open()
	if len(asked) != 1 || asked[0].User == "" {
		t.Fatalf("%+v", asked)
	}
	want := asked[0]
	want.CPF, want.Reason = "52998224725", why
	difftest.Must(t, "the request", asked[0], want)
	d.recorded("subject.erase", "", asked[0].ID+", "+why)
	if _, page := me.send("/subjects", "", nil); !strings.Contains(page, asked[0].ID+"/cancel") {
		t.Error("the request is not listed:", page)
	}
	if _, page := stranger.send("/subjects", "", nil); strings.Contains(page, asked[0].ID) {
		t.Error("another partner sees it")
	}
	cancel := "/subjects/requests/" + string(own.ID) + "/" + asked[0].ID + "/cancel"
	stranger.post(404, cancel)
	stranger.post(404, strings.Replace(cancel, string(own.ID), string(other.ID), 1))
	me.post(303, cancel)
	if left := open(); len(left) != 0 {
		t.Errorf("%+v", left)
	}
	d.recorded("subject.erase_cancel", "", asked[0].ID)

	_, page = me.post(200, "/incidents", "from", "01/01/2020 00:00")
	if !strings.Contains(page, "Avisar até") || strings.Contains(page, "Boreal") ||
		strings.Contains(page, "Quem viu ou mudou") {
		t.Error("the incident:", page)
	}
	_, table := me.post(200, "/incidents/download", "from", "01/01/2020 00:00", "reveal", "on", "reason", why)
	if !strings.Contains(table, own.user) || strings.Contains(table, string(other.ID)) {
		t.Error(table)
	}
	if _, page := me.post(200, "/incidents", "breach", "nunca-visto"); !strings.Contains(page, "Ninguém foi atingido") {
		t.Error("a breach that is not there:", page)
	}
	for _, role := range []operator.Role{operator.PartnerAdmin, operator.Developer, operator.Attendant} {
		d.as(own.people[role]).post(403, "/subjects/find", "cpf", cpf, "reason", why)
	}
	admin := partner.UserHash(own.user) // an operator asks for a partner, too
	d.post(303, "/subjects/requests",
		"user_hash", string(admin), "partner", string(own.ID), "reason", why, "confirm", "APAGAR")
	if len(open()) != 1 {
		t.Error("an operator's request for a partner")
	}
}
