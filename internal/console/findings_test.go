package console_test

import (
	"context"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// TestFindingPage: an attendant reads a person's steps out, ticks them, and looks again; each is a line of the trail.
func TestFindingPage(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	ctx, user := context.Background(), strings.Repeat("ab", 32)
	p, _, err := d.app.Partners.CreatePartner(ctx, "Banco de Teste", partner.Sandbox, partner.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.app.Monitoring.AddAsset(ctx, cyber.AssetRequest{Owner: cyber.Owner{Partner: p.ID, Mode: p.Mode}, User: partner.UserHash(user), Type: "email", Value: "maria@vazamento.test"}); err != nil {
		t.Fatal(err)
	}
	list, err := d.app.Monitoring.ListFindings(ctx, p.ID, partner.UserHash(user))
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	found := list[0]
	at := "/findings/" + string(p.ID) + "/" + string(found.ID)
	plan := func() cyber.Plan {
		t.Helper()
		one, err := d.app.Monitoring.GetFindingPlan(ctx, p.ID, partner.UserHash(user), found.ID)
		if err != nil {
			t.Fatal(err)
		}
		return one
	}
	_, all := d.send("/findings", "", nil)
	has(t, all, `href="`+at+`"`)
	res, _ := d.post(303, "/search", "q", user)
	_, person := d.send(res.Header.Get("location"), "", nil)
	has(t, person, `href="`+at+`"`, "0 de 3")

	_, page := d.send(at, "", nil)
	has(t, page, "O que a pessoa deve fazer", "Troque a senha que vazou", "A fazer", "0 de 3 passos feitos", "Faltam 3 passos", "-maria@")
	d.recorded("finding.view", string(found.ID), "")
	res, _ = d.post(303, at+"/steps/change-password", "state", "done")
	if to := res.Header.Get("location"); !strings.HasPrefix(to, at) {
		t.Error(to)
	}
	d.recorded("finding.step", string(found.ID), "change-password done")
	d.post(422, at+"/steps/change-password", "state", "feito")
	d.post(404, at+"/steps/block-card", "state", "done")
	d.post(303, at+"/steps/second-factor", "state", "skipped")
	_, page = d.send(at, "", nil)
	has(t, page, "Feito", "Dispensado", "Desfazer", "1 de 3 passos feitos", "Falta 1 passo")
	res, _ = d.post(303, at+"/recheck")
	_, page = d.send(res.Header.Get("location"), "", nil)
	has(t, page, "Ainda faltam passos.", "Em aberto")
	d.post(303, at+"/steps/expect-scams", "state", "done")
	d.post(303, at+"/recheck")
	if one := plan(); one.Finding.Resolution != cyber.ResolvedPasswordChanged || one.Done() != 2 {
		t.Errorf("%+v", one)
	}
	_, page = d.send(at, "", nil)
	has(t, page, "Senha trocada", "-Verificar de novo", "-Desfazer")
	d.post(409, at+"/steps/expect-scams", "state", "todo")
	res, _ = d.send("/findings/"+string(p.ID)+"/fd_nada", "", nil)
	if res.StatusCode != 404 {
		t.Error(res.StatusCode)
	}
}
