package console_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/job"
	"github.com/vigiahq/vigia/internal/platform/polltest"
	"github.com/vigiahq/vigia/internal/web/console"
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
		if _, err := d.app.Monitoring.AddAsset(
			ctx,
			cyber.AssetRequest{
				Owner: cyber.Owner{Partner: p.ID, Mode: p.Mode},
				User:  user,
				Type:  "email",
				Value: fmt.Sprintf("v%d@vazamento.test", i),
			},
		); err != nil {
			d.t.Fatal(err)
		}
	}
	return p
}

// TestFindingsList: a list is narrowed, says when it shows part, keeps the chosen partner, and its filters are kept by
// name.
func TestFindingsList(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	p, other := d.sandbox("Banco Um", 60), d.sandbox("Banco Dois", 2)
	_, page := d.send("/findings?partner="+string(p.ID), "", nil)
	has(t, page, "1–50 de 60", `rel="next"`, "-v1@vazamento.test")
	if n := strings.Count(page, `data-label="Parceiro">Banco Um</td>`); n != 50 {
		t.Errorf("%d lines", n)
	}
	next := nextPage(t, page)
	_, page = d.send(next, "", nil)
	has(t, page, "51–60 de 60", `rel="prev"`, `-rel="next"`, "-Banco Dois</td>")
	_, page = d.send(linkOf(t, page, "prev"), "", nil)
	has(t, page, "1–50 de 60", `-rel="prev"`)
	_, page = d.send("/findings?partner="+string(other.ID), "", nil)
	has(t, page, "1–2 de 2", "-Banco Um</td>")
	_, page = d.send("/findings?severity=low&kind=cpf", "", nil)
	has(t, page, "Nenhuma ocorrência", `Gravidade:</span> Baixa`, `Tipo:</span> CPF`,
		"Só foi procurado com:", "Gravidade Baixa; Tipo CPF", "Tirar os filtros")
	_, page = d.send(
		strings.ReplaceAll(cutOut(t, page, `<a class="off" href="`, `" aria-label="Deixar de filtrar por Gravidade"`), "&amp;", "&"),
		"",
		nil,
	)
	has(t, page, `-Gravidade:</span>`, `Tipo:</span> CPF`)

	_, page = d.send("/deliveries?state=failed&partner="+string(other.ID), "", nil)
	has(t, page, "Nenhuma falha", "Só foi procurado com:", "Parceiro Banco Dois")

	// A choice is in the address alone: the next page shows all partners, or asks for one.
	res, _ := d.send("/findings?partner="+string(other.ID), "", nil)
	if kept := res.Header.Get("set-cookie"); kept != "" {
		t.Error("a choice is remembered:", kept)
	}
	for _, path := range []string{"/findings", "/monitoring", "/cases", "/deliveries"} {
		_, page = d.send(path, "", nil)
		has(t, page, `-<option value="`+string(other.ID)+`" selected>`)
	}
	for _, path := range []string{"/events", "/events/report", "/devices", "/plans", "/subscriptions"} {
		_, page = d.send(path, "", nil)
		has(t, page, "De qual parceiro?", `<a href="`+path+"?partner="+string(other.ID)+`">`)
	}

	d.post(422, "/lists/findings/filters", "query", "state=all", "name", "")
	d.post(
		303,
		"/lists/findings/filters",
		"query",
		"state=all&partner="+string(p.ID)+"&q=maria%40exemplo.com.br",
		"name",
		"Do banco um",
	)
	_, page = d.send("/findings", "", nil)
	has(t, page, "Do banco um", "partner="+string(p.ID)+"&amp;state=all", "-maria")
	drop := cutOut(t, page, `action="/lists/findings/filters/`, `/drop"`)
	d.post(303, "/lists/findings/filters/"+drop+"/drop")
	_, page = d.send("/findings", "", nil)
	has(t, page, "-Do banco um")
	d.post(404, "/lists/findings/filters/"+drop+"/drop")
}

// nextPage returns where the link to the next page of a list leads.
func nextPage(t *testing.T, page string) string {
	t.Helper()
	return linkOf(t, page, "next")
}

// linkOf returns where the link of a relation leads.
func linkOf(t *testing.T, page, rel string) string {
	t.Helper()
	before, _, found := strings.Cut(page, `" rel="`+rel+`"`)
	if !found {
		t.Fatalf("no %s page in\n%s", rel, page)
	}
	return strings.ReplaceAll(before[strings.LastIndex(before, `"`)+1:], "&amp;", "&")
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

// TestListOfAPerson: a list is narrowed to somebody by what was typed, which stands in no address and no line of the
// trail.
func TestListOfAPerson(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	p := d.sandbox("Banco Um", 3)
	res, _ := d.post(303, "/lists/findings/person", "q", "v1@vazamento.test", "partner", string(p.ID))
	to := res.Header.Get("location")
	if strings.Contains(to, "vazamento") || !strings.Contains(to, "person=us_") {
		t.Fatal(to)
	}
	for _, list := range []string{
		"findings", "monitoring", "events", "devices", "deliveries", "subscriptions", "cases",
	} {
		_, page := d.send(strings.Replace(to, "/findings", "/"+list, 1), "", nil)
		has(t, page, "Só de <a href=\"/people/")
	}
	_, page := d.send(to, "", nil)
	has(t, page, "1–1 de 1")
	for i := range 2 {
		if _, err := d.app.Cases.OpenCase(
			context.Background(),
			p.ID,
			cyber.CaseRequest{Service: phishing, User: partner.UserHash(fmt.Sprint("pessoa", i))},
		); err != nil {
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

// TestExportList: a list becomes a file in the background: all that fits, masked, for whoever asked, with a line in the
// trail.
func TestExportList(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	p := d.sandbox("=Banco", 60)
	for _, format := range []string{"csv", "json"} {
		d.post(303, "/lists/findings/export", "query", "partner="+string(p.ID), "format", format)
		var path string
		polltest.Until(t, "a file of the list in "+format, func() bool {
			_, page := d.send("/exports", "", nil)
			_, row, _ := strings.Cut(page, `data-label="Formato">`+format)
			row, _, _ = strings.Cut(row, "</tr>")
			_, rest, done := strings.Cut(row, `<a href="/exports/`)
			path, _, _ = strings.Cut(rest, `"`)
			return done
		})
		res, file := d.send("/exports/"+path, "", nil)
		if !strings.Contains(res.Header.Get("content-disposition"), "."+format+`"`) || strings.Count(file, "\n") < 60 ||
			strings.Contains(file, "v1@") {
			t.Errorf("%v\n%s", res.Header, file)
		}
		if format == "csv" && (!strings.Contains(file, ";'=Banco;") || strings.Count(file, "\n") != 61) {
			t.Error(file)
		}
		d.recorded("list.download", path, "findings: 60")
		other := session(t, d.app, format+"@exemplo.com.br", operator.Admin)
		if res, _ := ask(
			t,
			d.base,
			http.MethodGet,
			"/exports/"+path,
			other,
			nil,
		); res.StatusCode != http.StatusNotFound {
			t.Error("another operator's file:", res.StatusCode)
		}
	}
	d.recorded("list.export", "", "findings partner="+string(p.ID))
	viewer := session(t, d.app, "leitor@exemplo.com.br", operator.Viewer)
	if res, _ := ask(
		t,
		d.base,
		http.MethodPost,
		"/lists/audit/export",
		viewer,
		nil,
	); res.StatusCode != http.StatusForbidden {
		t.Error("the trail for a viewer:", res.StatusCode)
	}
	for _, list := range []string{
		"monitoring", "events", "deliveries", "subscriptions", "devices", "breaches", "cases", "audit",
	} {
		d.post(303, "/lists/"+list+"/export", "query", "partner="+string(p.ID))
	}
	polltest.Until(t, "ten exports are done", func() bool {
		jobs, err := d.app.Store.Jobs.ListJobs(t.Context(), console.KindExport, 50)
		if err != nil {
			t.Fatal(err)
		}
		done := 0
		for _, j := range jobs {
			if j.State == job.Failed {
				t.Fatal(j.Error)
			}
			if j.State == job.Done {
				done++
			}
		}
		return len(jobs) == 10 && done == 10
	})
}

// TestBulkActions: many lines are shown before they are changed; chosen ones at once, all that fit as a job.
func TestBulkActions(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	p, other := d.sandbox("Banco Um", 60), d.sandbox("Banco Dois", 1)
	found, _, err := d.app.Store.Overview.FindingList(
		context.Background(),
		cyber.FindingFilter{Partner: p.ID, Limit: 2},
	)
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
	open := func(id partner.ID) int {
		list, _, err := d.app.Store.Overview.FindingList(
			context.Background(),
			cyber.FindingFilter{Partner: id, State: cyber.FindingOpen, Limit: 100},
		)
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	d.post(404, "/lists/findings/bulk/run", append(rows, "row", "pt_unknown/fi_1", "option", "not_me")...)
	if n := open(p.ID); n != 60 {
		t.Errorf("refused for the partner of one line, and %d of 60 are open", n)
	}
	d.post(303, "/lists/findings/bulk/run", append(rows, "option", "not_me")...)
	d.recorded("finding.resolve", string(found[0].Finding.ID), "bulk not_me")
	if n := open(p.ID); n != 58 {
		t.Errorf("%d open", n)
	}
	_, page = d.post(200, "/lists/findings/bulk", "query", query, "all", "1")
	has(t, page, "58 linhas", "tudo o que combina com o filtro", "as primeiras")
	d.post(303, "/lists/findings/bulk/run", "query", query, "all", "1", "option", "other")
	if j := d.job(
		console.KindBulk,
		"findings",
	); j.State != job.Done ||
		string(j.Progress) != `{"Lines":58,"Refused":0}` {
		t.Errorf("%+v %s", j, j.Progress)
	}
	d.recorded("finding.resolve", "findings", "all: "+query+" other")
	if open(p.ID) != 0 || open(other.ID) != 1 {
		t.Error("left open:", open(p.ID), open(other.ID))
	}
	d.post(404, "/lists/breaches/bulk", "all", "1")
	viewer := session(t, d.app, "leitor@exemplo.com.br", operator.Viewer)
	if _, page := ask(
		t,
		d.base,
		http.MethodGet,
		"/findings?state=all",
		viewer,
		nil,
	); strings.Contains(page, `name="row"`) ||
		strings.Contains(page, "/bulk") {
		t.Error("a viewer is offered what a viewer may not do")
	}
}

// TestAuditList: the trail is narrowed by an operator's e-mail and by a period, turned round, and read page by page.
func TestAuditList(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	ctx := context.Background()
	ana, err := d.app.Operators.FindByEmail(ctx, "ana@exemplo.com.br")
	if err != nil {
		t.Fatal(err)
	}
	today := func() string { return time.Now().In(time.FixedZone("", -3*60*60)).Format(time.DateOnly) }
	first := today()
	for i := range 60 {
		if err := d.app.Audit.RecordAction(
			ctx,
			operator.Actor{Name: string(ana.ID), From: "192.0.2.1"},
			"partner.show",
			fmt.Sprint("of-ana-", i),
			"",
		); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.app.Audit.RecordAction(
		ctx,
		operator.Actor{Name: "cli:root", From: "host"},
		"partner.show",
		"of-root",
		"",
	); err != nil {
		t.Fatal(err)
	}
	last := today() // another day than the first when midnight was in between
	for query, want := range map[string][]string{
		"actor=Ana%40exemplo.com.br&action=partner.show": {
			"of-ana-59", "-of-root", "1–50 de mais de 50", `value="Ana@exemplo.com.br"`, ">viu um parceiro<",
		},
		"actor=ninguem%40exemplo.com.br":    {"Nada com este filtro"},
		"actor=cli:root":                    {"of-root", "-of-ana-", "1–1 de 1"},
		"action=partner.show&sort=old":      {"of-ana-0<", "-of-ana-59<", "-of-root"},
		"action=partner.show&from=" + first: {"of-root"},
		"action=partner.show&to=2020-01-01": {"Nada com este filtro"},
		"action=partner.show&to=" + last:    {"of-root"},
	} {
		_, page := d.send("/audit?"+query, "", nil)
		has(t, page, want...)
	}
	_, page := d.send("/audit?action=partner.show&sort=old", "", nil)
	next := nextPage(t, page)
	_, page = d.send(next, "", nil)
	has(t, page, "of-ana-50<", "of-root", "-of-ana-49<", `rel="prev"`, `-rel="next"`)
	file := d.exported("audit", url.Values{"actor": {"ana@exemplo.com.br"}, "action": {"partner.show"}}.Encode())
	has(t, file, "ana@exemplo.com.br", "of-ana-0", "-of-root")
}

// TestDeskIsNarrowed: the desk is narrowed by the days of opening, and turned round.
func TestDeskIsNarrowed(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	p, user := d.customer()
	var opened []string
	for range 3 {
		c, err := d.app.Cases.OpenCase(
			context.Background(),
			p.ID,
			cyber.CaseRequest{Service: phishing, User: partner.UserHash(user)},
		)
		if err != nil {
			t.Fatal(err)
		}
		opened = append(opened, string(c.ID))
	}
	_, page := d.send("/cases?to=2020-01-01", "", nil)
	has(t, page, "Nenhum caso", `name="to" value="2020-01-01"`)
	for sort, first := range map[string]string{"new": opened[2], "old": opened[0], "urgent": opened[0]} {
		_, page := d.send("/cases?from=2020-01-01&sort="+sort, "", nil)
		if got := cutOut(t, page, `href="/cases/`, `"`); got != first {
			t.Errorf("%s begins with %s", sort, got)
		}
	}
	lines := strings.Split(strings.TrimSpace(d.exported("cases", "sort=new")), "\n")
	if len(lines) != 4 || !strings.HasPrefix(lines[1], opened[2]) {
		t.Error(lines)
	}
	has(t, d.exported("cases", "to=2020-01-01"), "-"+opened[0])
}

// TestSearch: whatever an attendant is told leads to the person or the thing, and nothing that was typed stands in an
// address or in the trail.
func TestSearch(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	p, user := d.customer()
	ctx := context.Background()
	c, err := d.app.Cases.OpenCase(ctx, p.ID, cyber.CaseRequest{Service: phishing, User: partner.UserHash(user)})
	if err != nil {
		t.Fatal(err)
	}
	find := func(q string) string {
		t.Helper()
		res, page := d.post(303, "/search", "q", q)
		to := res.Header.Get("location")
		if page != "" && strings.Contains(page, q) ||
			strings.Contains(to, q) && !strings.HasPrefix(q, "cs_") && !strings.HasPrefix(q, "pt_") {
			t.Errorf("%q stands in %s", q, to)
		}
		return to
	}
	person := find(user)
	if !strings.HasPrefix(person, "/people/"+string(p.ID)+"/us_") {
		t.Fatal(person)
	}
	for _, q := range []string{"529.982.247-25", "52998224725", " Maria@Exemplo.com.br ", strings.ToUpper(user)} {
		if to := find(q); to != person {
			t.Errorf("%s leads to %s", q, to)
		}
	}
	if to := find(string(c.ID)); to != "/cases/"+string(c.ID) {
		t.Error(to)
	}
	for _, q := range []string{"1", "#1"} {
		if res, _ := d.post(303, "/search", "q", q); res.Header.Get("location") != "/cases/"+string(c.ID) {
			t.Errorf("the number %s leads to %s", q, res.Header.Get("location"))
		}
	}
	_, mistyped := d.post(200, "/search", "q", "529.982.247-26")
	has(t, mistyped, "Este CPF não existe")
	for _, q := range []string{string(p.ID), "banco exemplo", "BANCO E"} {
		if to := find(q); to != "/partners/"+string(p.ID) {
			t.Errorf("%s leads to %s", q, to)
		}
	}
	for _, q := range []string{"ninguem@exemplo.com.br", "cs_nada", "11 91234-5678", "x"} {
		_, page := d.post(200, "/search", "q", q)
		has(t, page, "Nada encontrado")
	}
	d.post(422, "/search", "q", " ")
	d.post(422, "/search", "q", strings.Repeat("x", 321))

	// The same person with two partners is two people to choose from: what one partner knows is not the other's.
	other, cred, err := d.app.Partners.CreatePartner(ctx, "Clube", partner.Live, partner.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	hash := partner.LongUserHash("52998224725", cred.Salt)
	if _, err := d.app.Monitoring.AddAsset(
		ctx,
		cyber.AssetRequest{
			Owner: cyber.Owner{Partner: other.ID, Mode: other.Mode},
			User:  hash,
			Type:  "cpf",
			Value: "52998224725",
		},
	); err != nil {
		t.Fatal(err)
	}
	_, page := d.post(200, "/search", "q", "529.982.247-25")
	has(t, page, "Banco Exemplo", "Clube", person)
	if n := strings.Count(page, `href="/people/`); n != 2 {
		t.Errorf("%d people, not 2", n)
	}

	lines, err := d.app.Audit.ListEntries(ctx, operator.Filter{Action: "search", Limit: 100})
	if err != nil || len(lines) < 10 {
		t.Fatal(len(lines), err)
	}
	for _, l := range lines {
		for _, typed := range []string{user, "52998224725", "aria@", "12345678", "91234-5678"} {
			if strings.Contains(l.Subject+l.Detail, typed) {
				t.Errorf("the trail holds what was typed: %+v", l)
			}
		}
	}
}

// findings waits until so many are there.
func (d *adminSession) findings(want int) []cyber.Found {
	d.t.Helper()
	var found []cyber.Found
	polltest.Until(d.t, "findings", func() bool {
		var err error
		found, _, err = d.app.Store.Overview.FindingList(context.Background(), cyber.FindingFilter{Limit: 10})
		return err == nil && len(found) == want
	})
	return found
}

// TestPersonPage: everything of one person on one page, masked, with what an attendant does from there.
func TestPersonPage(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	p, user := d.customer()
	ctx := context.Background()
	d.breach("loja")
	found := d.findings(1)
	if _, err := d.app.Endpoints.IssueKey(
		ctx,
		p.ID,
		cyber.DeviceRequest{User: partner.UserHash(user), System: cyber.Android, Name: "Celular"},
	); err != nil {
		t.Fatal(err)
	}
	res, _ := d.post(303, "/search", "q", user)
	path := res.Header.Get("location")
	_, page := d.send(path, "", nil)
	has(
		t,
		page,
		"Ma••• S.",
		"ouro",
		"Loja",
		"Android",
		"Senha",
		"Ocorrências em aberto",
		"vazamento encontrado",
		"-Maria da",
		"-maria@",
		"-87654321",
		"-Celular",
	)
	d.post(303, path+"/reveal", "reason", "chamado 9")
	_, page = d.send(path, "", nil)
	has(t, page, "Maria da Silva", "maria@exemplo.com.br", "5511987654321", "viu os dados", "chamado 9")
	d.recorded("person.reveal", strings.TrimPrefix(path, "/people/"+string(p.ID)+"/"), "chamado 9")
	_, accesses := d.send(path+"?linha=acessos", "", nil)
	has(t, accesses, "chamado 9", "-Ocorrência de gravidade", "-vazamento encontrado")
	_, protection := d.send(path+"?linha=protecao", "", nil)
	has(t, protection, "Ocorrência de gravidade", "vazamento encontrado", "-viu os dados")

	_, page = d.post(422, path+"/values", "type", "domain", "value", "nada")
	has(t, page, "Pessoa de Banco Exemplo")
	d.post(303, path+"/values", "type", "domain", "value", "empresa-exemplo.com.br")
	opened, _ := d.post(303, path+"/case", "service", string(phishing))
	_, page = d.send(opened.Header.Get("location"), "", nil)
	has(t, page, path, "Caso aberto em nome da pessoa.")
	d.post(404, path+"/case", "service", "sv_nada")

	res, _ = d.post(
		303,
		"/findings/"+string(p.ID)+"/"+string(found[0].Finding.ID)+"/resolve",
		"resolution",
		"password_changed",
		"person",
		"1",
	)
	if to := res.Header.Get("location"); !strings.HasPrefix(to, path) {
		t.Error(to)
	}
	_, page = d.send(path, "", nil)
	has(t, page, "Senha trocada", "Domínio", "ana@exemplo.com.br", "resolveu uma ocorrência")
	_, list := d.send("/findings?state=all", "", nil)
	has(t, list, string(found[0].Finding.ID))
	_, page = d.send("/subscriptions/"+string(p.ID)+"/1", "", nil)
	has(t, page, path)
	kept, _, err := d.app.Store.Overview.ListEvents(ctx, p.ID, alert.EventFilter{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	_, page = d.send("/events/"+string(p.ID)+"/"+string(kept[0].ID), "", nil)
	has(t, page, path)

	// Nobody's reference, another partner's, and no reference at all.
	other, _, err := d.app.Partners.CreatePartner(ctx, "Clube", partner.Live, partner.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{
		"/people/" + string(p.ID) + "/us_00", "/people/" + string(p.ID) + "/x",
		strings.Replace(path, string(p.ID), string(other.ID), 1), "/people/x/us_00",
	} {
		if res, _ := d.send(wrong, "", nil); res.StatusCode != 404 {
			t.Errorf("%s: %d", wrong, res.StatusCode)
		}
	}
}

// TestSeveralValuesAtOnce: a chip holds several values of one filter; rows fit any of them, and links go on with all.
func TestSeveralValuesAtOnce(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	p, user := d.customer()
	d.breach("loja")
	d.found(p.ID, user)
	_, page := d.send("/findings?severity=high&severity=medium&severity=low&severity=nada&class=email&class=card", "", nil)
	has(t, page, "1–1 de 1", "Gravidade:</span> Alta, Média, Baixa<", "O que vazou:</span> E-mail, Cartão<",
		`value="high" checked`, `value="critical"`, `-value="critical" checked`,
		"severity=high&amp;severity=medium&amp;severity=low", "-nada")
	for _, query := range []string{"severity=critical&severity=high", "class=card&class=cpf"} {
		_, page := d.send("/findings?"+query, "", nil)
		has(t, page, "Nenhuma ocorrência", "0 de 0")
	}
}
