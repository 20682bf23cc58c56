package console_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/console"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/job"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

// sandbox makes a partner whose values are found at once, so many of them.
func (d *adminSession) sandbox(name string, values int) partner.Partner {
	d.t.Helper()
	ctx := context.Background()
	p, _, err := d.app.Partners.CreatePartner(ctx, name, partner.Sandbox, partner.Settings{})
	if err != nil {
		d.t.Fatal(err)
	}
	for i := range values {
		user := partner.UserHash(fmt.Sprint("pessoa", i))
		if _, err := d.app.Monitoring.AddAsset(ctx, cyber.AssetRequest{Owner: cyber.Owner{Partner: p.ID, Mode: p.Mode}, User: user, Type: "email", Value: fmt.Sprintf("v%d@vazamento.test", i)}); err != nil {
			d.t.Fatal(err)
		}
	}
	return p
}

// TestFindingsList: a list is narrowed, says when it shows part, keeps the chosen partner, and its filters are kept by name.
func TestFindingsList(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	p, other := d.sandbox("Banco Um", 60), d.sandbox("Banco Dois", 2)
	_, page := d.send("/findings?partner="+string(p.ID), "", nil)
	has(t, page, "Mostrando 50; há mais nas próximas páginas.", "Próxima página", "-v1@vazamento.test")
	if n := strings.Count(page, `<td data-label="Parceiro">Banco Um`); n != 50 {
		t.Errorf("%d lines", n)
	}
	next := strings.ReplaceAll(cutOut(t, page, `<a class="button quiet" href="`, `">Próxima`), "&amp;", "&")
	_, page = d.send(next, "", nil)
	has(t, page, "Mostrando 10; é o fim da lista.", "Voltar ao começo", "-Banco Dois</td>")
	_, page = d.send("/findings?partner="+string(other.ID), "", nil)
	has(t, page, "2 no total.", "-Banco Um</td>")
	_, page = d.send("/findings?severity=low&kind=cpf", "", nil)
	has(t, page, "Nenhuma ocorrência", `class="chip">Gravidade: Baixa <a href="`, `class="chip">Tipo: `)
	_, page = d.send(strings.ReplaceAll(cutOut(t, page, `class="chip">Gravidade: Baixa <a href="`, `"`), "&amp;", "&"), "", nil)
	has(t, page, `-class="chip">Gravidade`, `class="chip">Tipo: `)

	// The chosen partner goes along, here and on pages of one partner, until another is chosen.
	res, _ := d.send("/findings?partner="+string(other.ID), "", nil)
	kept := res.Header.Get("set-cookie")
	if !strings.HasPrefix(kept, "__Host-vigia-partner="+string(other.ID)+";") || !strings.Contains(kept, "HttpOnly; Secure; SameSite=Strict") {
		t.Fatal(kept)
	}
	for _, path := range []string{"/findings", "/events", "/monitoring", "/cases", "/deliveries"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.AddCookie(d.cookie)
		req.AddCookie(&http.Cookie{Name: "__Host-vigia-partner", Value: string(other.ID)})
		_, page := answered(t, req)
		has(t, page, `<option value="`+string(other.ID)+`" selected>`)
	}
	d.send("/findings?partner=pt_nada", "", nil)

	d.post(422, "/lists/findings/filters", "query", "state=all", "name", "")
	d.post(303, "/lists/findings/filters", "query", "state=all&partner="+string(p.ID)+"&q=maria%40exemplo.com.br", "name", "Do banco um")
	_, page = d.send("/findings", "", nil)
	has(t, page, "Do banco um", "partner="+string(p.ID)+"&amp;state=all", "-maria")
	drop := cutOut(t, page, `action="/lists/findings/filters/`, `/drop"`)
	d.post(303, "/lists/findings/filters/"+drop+"/drop")
	_, page = d.send("/findings", "", nil)
	has(t, page, "-Do banco um")
	d.post(404, "/lists/findings/filters/"+drop+"/drop")
}

func cutOut(t *testing.T, page, before, after string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, before)
	text, _, ends := strings.Cut(rest, after)
	if !found || !ends {
		t.Fatalf("no %q in\n%s", before, page)
	}
	return text
}

// TestListOfAPerson: a list is narrowed to somebody by what was typed, which stands in no address and no line of the trail.
func TestListOfAPerson(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	p := d.sandbox("Banco Um", 3)
	res, _ := d.post(303, "/lists/findings/person", "q", "v1@vazamento.test", "partner", string(p.ID))
	to := res.Header.Get("location")
	if strings.Contains(to, "vazamento") || !strings.Contains(to, "person=us_") {
		t.Fatal(to)
	}
	for _, list := range []string{"findings", "monitoring", "events", "devices", "deliveries", "subscriptions", "cases"} {
		_, page := d.send(strings.Replace(to, "/findings", "/"+list, 1), "", nil)
		has(t, page, "Só de <a href=\"/people/")
	}
	_, page := d.send(to, "", nil)
	has(t, page, "1 no total.")
	for i := range 2 {
		if _, err := d.app.Cases.OpenCase(context.Background(), p.ID, cyber.CaseRequest{Service: phishing, User: partner.UserHash(fmt.Sprint("pessoa", i))}); err != nil {
			t.Fatal(err)
		}
	}
	_, page = d.send(strings.Replace(to, "/findings", "/cases", 1), "", nil)
	if n := strings.Count(page, `class="open"`); n != 1 {
		t.Errorf("%d cases of one person", n)
	}
	d.post(422, "/lists/findings/person", "q", "ninguem@exemplo.com.br")
	lines, err := d.app.Audit.ListEntries(context.Background(), operator.Filter{Action: "search", Limit: 10})
	if err != nil || len(lines) != 2 {
		t.Fatal(lines, err)
	}
	for _, l := range lines {
		if strings.Contains(l.Subject+l.Detail, "vazamento.test") {
			t.Error("the trail holds what was typed:", l)
		}
	}
}

// TestExportList: a list becomes a file in the background: all that fits, masked, for whoever asked, with a line in the trail.
func TestExportList(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	p := d.sandbox("=Banco", 60)
	for _, format := range []string{"csv", "json"} {
		d.post(303, "/lists/findings/export", "query", "partner="+string(p.ID), "format", format)
		var path string
		for deadline := time.Now().Add(patience); path == ""; time.Sleep(10 * time.Millisecond) {
			_, page := d.send("/exports", "", nil)
			_, row, _ := strings.Cut(page, `data-label="Formato">`+format)
			row, _, _ = strings.Cut(row, "</tr>")
			if _, rest, done := strings.Cut(row, `<a href="/exports/`); done {
				path, _, _ = strings.Cut(rest, `"`)
			}
			if time.Now().After(deadline) {
				t.Fatal(page)
			}
		}
		res, file := d.send("/exports/"+path, "", nil)
		if !strings.Contains(res.Header.Get("content-disposition"), "."+format+`"`) || strings.Count(file, "\n") < 60 || strings.Contains(file, "v1@") {
			t.Errorf("%v\n%s", res.Header, file)
		}
		if format == "csv" && (!strings.Contains(file, ";'=Banco;") || strings.Count(file, "\n") != 61) {
			t.Error(file)
		}
		d.recorded("list.download", path, "findings: 60")
		other := session(t, d.app, format+"@exemplo.com.br", operator.Admin)
		if res, _ := ask(t, d.base, http.MethodGet, "/exports/"+path, other, nil); res.StatusCode != http.StatusNotFound {
			t.Error("another operator's file:", res.StatusCode)
		}
	}
	d.recorded("list.export", "", "findings partner="+string(p.ID))
	viewer := session(t, d.app, "leitor@exemplo.com.br", operator.Viewer)
	if res, _ := ask(t, d.base, http.MethodPost, "/lists/audit/export", viewer, nil); res.StatusCode != http.StatusForbidden {
		t.Error("the trail for a viewer:", res.StatusCode)
	}
	for _, list := range []string{"monitoring", "events", "deliveries", "subscriptions", "devices", "breaches", "cases", "audit"} {
		d.post(303, "/lists/"+list+"/export", "query", "partner="+string(p.ID))
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		jobs, err := d.app.Store.Jobs.ListJobs(context.Background(), console.KindExport, 50)
		if err != nil || time.Now().After(deadline) {
			t.Fatal(jobs, err)
		}
		open := 0
		for _, j := range jobs {
			if j.State == job.Failed {
				t.Fatal(j.Error)
			}
			if j.State != job.Done {
				open++
			}
		}
		if len(jobs) == 10 && open == 0 {
			return
		}
	}
}

// TestBulkActions: many lines are shown before they are changed; chosen ones at once, all that fit as a job.
func TestBulkActions(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	p, other := d.sandbox("Banco Um", 60), d.sandbox("Banco Dois", 1)
	found, _, err := d.app.Store.Overview.FindingList(context.Background(), cyber.FindingFilter{Partner: p.ID, Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	query := "partner=" + string(p.ID)
	d.post(422, "/lists/findings/bulk", "query", query)
	rows := []string{"query", query}
	for _, f := range found {
		rows = append(rows, "row", string(p.ID)+"/"+string(f.Finding.ID))
	}
	_, page := d.post(200, "/lists/findings/bulk", rows...)
	has(t, page, "2 linhas", string(found[0].Finding.ID), "Resolver agora", "Senha trocada", "-v59@")
	d.post(422, "/lists/findings/bulk/run", append(rows, "option", "nada")...)
	d.post(303, "/lists/findings/bulk/run", append(rows, "option", "not_me")...)
	d.recorded("finding.resolve", string(found[0].Finding.ID), "bulk not_me")
	open := func(id partner.ID) int {
		list, _, err := d.app.Store.Overview.FindingList(context.Background(), cyber.FindingFilter{Partner: id, OpenOnly: true, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	if n := open(p.ID); n != 58 {
		t.Errorf("%d open", n)
	}
	_, page = d.post(200, "/lists/findings/bulk", "query", query, "all", "1")
	has(t, page, "58 linhas", "tudo o que combina com o filtro", "as primeiras")
	d.post(303, "/lists/findings/bulk/run", "query", query, "all", "1", "option", "other")
	if j := d.job(console.KindBulk, "findings"); j.State != job.Done || string(j.Progress) != `{"Lines":58,"Refused":0}` {
		t.Errorf("%+v %s", j, j.Progress)
	}
	d.recorded("finding.resolve", "findings", "all: "+query+" other")
	if open(p.ID) != 0 || open(other.ID) != 1 {
		t.Error("left open:", open(p.ID), open(other.ID))
	}
	d.post(404, "/lists/breaches/bulk", "all", "1")
	viewer := session(t, d.app, "leitor@exemplo.com.br", operator.Viewer)
	if _, page := ask(t, d.base, http.MethodGet, "/findings?state=all", viewer, nil); strings.Contains(page, `name="row"`) || strings.Contains(page, "/bulk") {
		t.Error("a viewer is offered what a viewer may not do")
	}
}
