package console_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/job"
)

// TestConsoleAppends: a breach is appended to from the browser, by files of the server and by a file that is sent;
// nothing of that stays. What cannot be done is refused at once.
func TestConsoleAppends(t *testing.T) {
	d := newAdmin(t)
	d.breach("loja")
	path := filepath.Join(t.TempDir(), "mais.txt")
	if err := os.WriteFile(path, []byte("bia@exemplo.com.br:654321\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	appended := func(from string, renewals, emails int64) {
		t.Helper()
		if j := d.job(intake.KindRenew, "loja"); j.State != job.Done {
			t.Fatal(j.State, j.Error)
		}
		d.recorded("breach.append", "loja", from)
		rec, err := d.app.Leaks.Breaches.FindBreach(context.Background(), "loja")
		if err != nil || rec.Renewals != renewals || rec.Tally.Found["email"] != emails {
			t.Errorf("%+v, %v", rec, err)
		}
	}
	if _, page := d.send("/breaches/loja", "", nil); !strings.Contains(page, `href="/breaches/loja/renew"`) {
		t.Error("the page of the breach does not lead to the form")
	}
	d.post(303, "/breaches/loja/renew", "paths", path)
	appended(path, 1, 2)
	d.upload(303, "/breaches/loja/renew/upload", "certo.txt", "caio@exemplo.com.br:1\n")
	appended("upload", 2, 3)
	d.noUploads()
	d.post(422, "/breaches/loja/renew", "paths", "relativo.txt")
	d.post(404, "/breaches/nada/renew", "paths", path)
	d.post(422, "/breaches/loja/retract", "confirm", "outro")
	d.post(303, "/breaches/loja/retract", "confirm", "loja")
	if res, _ := d.post(409, "/breaches/loja/renew", "paths", path); res.StatusCode != 409 {
		t.Error(res.Status)
	}
}

// TestFindingPage: an attendant reads a person's steps out, ticks them, and looks again; each is a line of the trail.
func TestFindingPage(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	ctx, user := context.Background(), strings.Repeat("ab", 32)
	p, _, err := d.app.Partners.CreatePartner(ctx, "Banco de Teste", partner.Sandbox, partner.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.app.Monitoring.AddAsset(
		ctx,
		cyber.AssetRequest{
			Owner: cyber.Owner{Partner: p.ID, Mode: p.Mode},
			User:  partner.UserHash(user),
			Type:  "email",
			Value: "maria@vazamento.test",
		},
	); err != nil {
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
	_, all := d.send("/findings?partner="+string(p.ID), "", nil)
	has(t, all, `href="`+at+`"`)
	res, _ := d.post(303, "/search", "q", user)
	_, person := d.send(res.Header.Get("location"), "", nil)
	has(t, person, `href="`+at+`"`, "0 de 3")

	_, page := d.send(at, "", nil)
	has(
		t,
		page,
		"O que a pessoa deve fazer",
		"Troque a senha que vazou",
		"A fazer",
		"0 de 3 passos feitos",
		"Faltam 3 passos",
		"-maria@",
	)
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

// TestFindingIsExplainedAndRetracted: the page of a finding says what stood in the record and which leak knew it before;
// it is taken back with a reason, which the trail keeps, and is counted as retracted and as nothing else.
func TestFindingIsExplainedAndRetracted(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	p := d.sandbox("Banco Um", 1)
	found, _, err := d.app.Store.Overview.FindingList(t.Context(), cyber.FindingFilter{Partner: p.ID, Limit: 2})
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	id := string(found[0].Finding.ID)
	at := "/findings/" + string(p.ID) + "/" + id
	_, page := d.send(at, "", nil)
	has(t, page, "Senha no vazamento", "junto com uma senha legível", "Há uma senha legível", "Desde quando",
		"Retratar com motivo", "-v0@")
	d.post(422, at+"/retract", "reason", "")
	res, _ := d.post(303, at+"/retract", "reason", "registro falso")
	_, page = d.send(res.Header.Get("location"), "", nil)
	has(t, page, "Ocorrência retratada", "-Retratar com motivo", "-Verificar de novo")
	d.recorded("finding.retract", id, "registro falso")
	for query, want := range map[string]int{"state=retracted": 1, "state=all": 0, "state=open": 0, "state=resolved": 0} {
		_, page := d.send("/findings?partner="+string(p.ID)+"&"+query, "", nil)
		if n := strings.Count(page, `class="open"`); n != want {
			t.Errorf("%s: %d rows", query, n)
		}
	}
	asset, err := d.app.Store.Overview.GetAsset(t.Context(), p.ID, found[0].Asset.ID)
	if err != nil || asset.Status != cyber.StatusMonitored {
		t.Error("the value still says that it was found:", asset.Status, err)
	}
	d.post(409, at+"/retract", "reason", "registro falso")
}
