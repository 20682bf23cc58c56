package console_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/console"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/job"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

// exported writes a list into a file and returns it.
func (d *adminSession) exported(list, query string) string {
	d.t.Helper()
	_, before := d.send("/exports", "", nil)
	d.post(303, "/lists/"+list+"/export", "query", query, "format", "csv")
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		_, page := d.send("/exports", "", nil)
		_, rest, done := strings.Cut(page, `<a href="/exports/`)
		id, _, _ := strings.Cut(rest, `"`)
		if done && !strings.Contains(before, id) {
			_, file := d.send("/exports/"+id, "", nil)
			return file
		}
		if time.Now().After(deadline) {
			d.t.Fatal("no file:", page)
		}
	}
}

// TestPortalLists: a partner's people use the lists, their exports and kept filters as operators do, and whatever a form says, on
// nothing but their own.
func TestPortalLists(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	own, other := d.tenant("Aurora", operator.PartnerRoles()...), d.tenant("Boreal", operator.PartnerViewer)
	d.leak(own, other)
	d.post(303, "/cases/"+own.named["case"]+"/assign", "me", "1")
	viewer := d.as(own.people[operator.PartnerViewer])
	for _, list := range []string{"findings", "monitoring", "events", "deliveries", "subscriptions", "devices", "cases"} {
		viewer.post(404, "/lists/"+list+"/export", "query", "partner="+string(other.ID))
		viewer.post(404, "/lists/"+list+"/filters", "query", "partner="+string(other.ID), "name", "Deles")
		_, page := viewer.send("/"+list, "", nil)
		has(t, page, "Exportar", "Guardar filtro", `-<select name="partner">`, `-name="row"`, "-"+string(other.ID), "-Banco Boreal")
	}
	findings := viewer.exported("findings", "")
	has(t, findings, "Banco Aurora", own.named["finding"], "-"+other.named["finding"], "-maria@exemplo.com.br")
	has(t, viewer.exported("devices", ""), own.named["device"], "-"+other.named["device"])
	cases := viewer.exported("cases", "owner=ana@exemplo.com.br")
	has(t, cases, own.named["case"], "Operação do serviço", "-ana@exemplo.com.br", "-"+other.named["case"])
	viewer.post(403, "/lists/audit/export", "query", "")
	viewer.post(403, "/lists/breaches/export", "query", "")
	viewer.post(303, "/lists/findings/filters", "query", "state=all", "name", "Todas as nossas")
	_, page := viewer.send("/findings", "", nil)
	has(t, page, "Todas as nossas")
	_, page = d.send("/findings", "", nil)
	has(t, page, "-Todas as nossas")

	// What is done to many lines is a right of its own.
	query := "partner=" + string(own.ID)
	rows := func(w tenant) []string {
		return []string{"query", query, "row", string(w.ID) + "/" + w.named["finding"], "option", "not_me"}
	}
	viewer.post(403, "/lists/findings/bulk", rows(own)...)
	d.as(own.people[operator.Developer]).post(403, "/lists/findings/bulk/run", rows(own)...)
	attendant := d.as(own.people[operator.Attendant])
	attendant.post(404, "/lists/findings/bulk/run", rows(other)...)
	attendant.post(403, "/lists/subscriptions/bulk/run", "query", query, "all", "1")
	attendant.post(200, "/lists/findings/bulk", rows(own)...)
	res, _ := attendant.post(303, "/lists/findings/bulk/run", "query", "", "all", "1", "option", "not_me")
	if to := res.Header.Get("location"); !strings.HasPrefix(to, "/findings?") {
		t.Error("sent to", to)
	}
	if j := d.job(console.KindBulk, "findings "+string(own.ID)); j.State != job.Done {
		t.Error(j.State, j.Error)
	}
	for id, want := range map[partner.ID]int{own.ID: 0, other.ID: 1} {
		left, _, err := d.app.Store.Overview.FindingList(context.Background(), cyber.FindingFilter{Partner: id, OpenOnly: true, Limit: 10})
		if err != nil || len(left) != want {
			t.Errorf("%s has %d open: %v", id, len(left), err)
		}
	}
}

// TestPortalWork: what each role of a partner does to the partner's own deliveries, values, devices and cases.
func TestPortalWork(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	ctx := context.Background()
	own := d.tenant("Aurora", operator.PartnerRoles()...)
	d.leak(own)
	developer, attendant := d.as(own.people[operator.Developer]), d.as(own.people[operator.Attendant])
	mine := []string{"partner", string(own.ID)}
	if res, _ := attendant.post(403, "/deliveries/replay", mine...); res.StatusCode != http.StatusForbidden {
		t.Error("an attendant replays")
	}
	waiting, _, err := d.app.Store.Overview.DeliveryList(ctx, alert.DeliveryFilter{State: alert.Pending, Partner: own.ID, Limit: 50})
	if err != nil || len(waiting) == 0 {
		t.Fatal("nothing is on its way:", err)
	}
	event := string(waiting[0].Event)
	_, page := developer.send("/deliveries?state=pending", "", nil)
	has(t, page, event, "Reenviar as linhas escolhidas", "-Parceiro</th>")
	developer.post(303, "/deliveries/replay", mine...)
	d.recorded("event.replay", string(own.ID), "all failed")
	developer.post(303, "/lists/deliveries/bulk/run", "query", "state=pending", "row", string(own.ID)+"/"+event+"/"+own.named["endpoint"])
	d.recorded("event.replay", event+"/"+own.named["endpoint"], "bulk")

	_, page = attendant.send("/monitoring?status=alerta", "", nil)
	has(t, page, "m***", "-maria@exemplo.com.br", "-Monitorar um domínio")
	attendant.post(303, "/monitoring/"+string(own.ID)+"/"+own.named["asset"]+"/reveal?status=alerta", "reason", "cliente ao telefone")
	_, page = attendant.send("/monitoring?status=alerta", "", nil)
	has(t, page, "maria@exemplo.com.br")
	attendant.post(303, "/monitoring/find", "user_hash", own.user)

	device := "/devices/" + own.named["device"]
	_, page = developer.send(device, "", nil)
	has(t, page, "oculto", "-Revogar", "-Celular de")
	_, page = attendant.send(device, "", nil) // the same person: one reason is enough
	has(t, page, "Celular de Aurora", "Revogar agora")
	_, page = attendant.send("/devices", "", nil)
	has(t, page, "Abrir", "-Origem das chaves")
	attendant.post(303, device+"/revoke")
	if one, err := d.app.Endpoints.GetDevice(ctx, cyber.KeyID(own.named["device"])); err != nil || one.EndReason != cyber.EndRevoked {
		t.Error(one.EndReason, err)
	}

	at := "/cases/" + own.named["case"]
	developer.post(403, at+"/write", "text", "não devia")
	attendant.post(303, at+"/write", "text", "Já falamos com o banco.")
	_, page = attendant.send(at, "", nil)
	has(t, page, "Já falamos com o banco.", "<b>Você</b>")
	if _, moves, err := d.app.Cases.ShowCase(ctx, cyber.CaseID(own.named["case"])); err != nil || !slices.ContainsFunc(moves, func(m cyber.CaseMove) bool { return m.Kind == cyber.MoveReply }) {
		t.Error(moves, err)
	}
}
