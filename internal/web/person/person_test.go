package person_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// TestLinkToPage follows a link to what leaked: the cookie is for these pages alone, the address says nothing, and the
// answer leads on by itself.
func TestLinkToPage(t *testing.T) {
	w := newWorld(t)
	of := w.tenant(t)
	w.watch(t, of, "pessoa-1", "ana.souza@vazamento.test", "limpa@exemplo.com.br")
	link := w.link(t, of, "pessoa-1", partner.Portuguese)
	if strings.Contains(link, "pessoa-1") || strings.Contains(link, string(of.ID)) {
		t.Error("the link says whose it is:", link)
	}
	v := &visitor{t: t, pages: w.pages, header: http.Header{"Sec-Fetch-Site": {"cross-site"}}}
	res, body := v.get(link)
	if res.StatusCode != http.StatusOK || !strings.Contains(body, `content="0; url=/p/"`) {
		t.Fatal(res.StatusCode, body)
	}
	c := v.cookie
	if c == nil {
		t.Fatal("no cookie")
	}
	want := *c
	want.HttpOnly, want.Secure, want.Partitioned = true, true, false
	want.SameSite, want.Path = http.SameSiteStrictMode, "/p/"
	difftest.Must(t, "the cookie", *c, want)
	page := v.sees(
		"/p/leaks",
		"an•••@vazamento.test",
		"li•••@exemplo.com.br",
		"senha",
		"Não vazou:",
		"cartão",
		"Comprometido",
	)
	if strings.Contains(page, "ana.") || strings.Contains(page, "limpa@") {
		t.Error("a value in the clear")
	}
	for _, path := range pageList {
		body := v.sees(path)
		if strings.Contains(body, "<script") || strings.Contains(body, "style=") ||
			strings.Contains(body, " on") && strings.Contains(body, "onclick") {
			t.Error(path, "holds script or style")
		}
	}
	if log := w.log.String(); strings.Contains(log, link[10:]) || strings.Contains(log, "pessoa-1") ||
		strings.Contains(log, "vazamento.test") ||
		!strings.Contains(log, "/p/enter/{token}") {
		t.Error("the log says whose page it is:", log)
	}
}

// TestHeaders: no script at all, and frames only where the partner allows them.
func TestHeaders(t *testing.T) {
	w := newWorld(t)
	of := w.tenant(t)
	w.watch(t, of, "pessoa-1", "ana@vazamento.test")
	v := w.visit(t, of, "pessoa-1", partner.Portuguese)
	policy := func() string {
		res, _ := v.get("/p/")
		for name, want := range map[string]string{
			"referrer-policy": "no-referrer", "x-content-type-options": "nosniff", "cache-control": "no-store",
		} {
			if got := res.Header.Get(name); got != want {
				t.Errorf("%s: %q", name, got)
			}
		}
		return res.Header.Get("content-security-policy")
	}
	closed := "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; " +
		"frame-ancestors 'none'"
	if p := policy(); p != closed {
		t.Error(p)
	}
	if _, err := w.registry.UpdateTheme(
		t.Context(),
		of.ID,
		func(th *partner.Theme) { th.Frames = []string{"https://app.banco.com.br"} },
	); err != nil {
		t.Fatal(err)
	}
	if p := policy(); !strings.HasSuffix(p, "frame-ancestors https://app.banco.com.br") {
		t.Error(p)
	}
	// Inside a frame a browser keeps the cookie apart for the site around it.
	framed := &visitor{
		t:      t,
		pages:  w.pages,
		header: http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Dest": {"iframe"}},
	}
	framed.get(w.link(t, of, "pessoa-1", partner.Portuguese))
	if framed.cookie == nil {
		t.Fatal("no cookie inside a frame")
	}
	want := *framed.cookie
	want.SameSite, want.Partitioned, want.Secure, want.HttpOnly = http.SameSiteNoneMode, true, true, true
	difftest.Check(t, "the cookie inside a frame", *framed.cookie, want)
}

// TestNothingWithoutSession: every route but the door answers 401 to who brings none, and another site's forms are
// refused.
func TestNothingWithoutSession(t *testing.T) {
	w := newWorld(t)
	of := w.tenant(t)
	w.watch(t, of, "pessoa-1", "ana@vazamento.test")
	stranger := &visitor{t: t, pages: w.pages, header: http.Header{"Sec-Fetch-Site": {"same-origin"}}}
	for _, path := range append([]string{
		"/p/theme.css", "/p/logo.png", "/p/cases/cs_x", "/p/services/sv_ajuda_phishing", "/p/enter/nada",
	}, pageList...) {
		if res, body := stranger.get(path); res.StatusCode != http.StatusUnauthorized ||
			strings.Contains(body, "vazamento.test") {
			t.Error(path, res.StatusCode)
		}
	}
	for _, path := range []string{
		"/p/answer", "/p/steps/x/y", "/p/leaks/x/resolve", "/p/cases/x/reply", "/p/cases/x/rebook", "/p/cases/x/cancel",
		"/p/cases/x/rate", "/p/services/x", "/p/data", "/p/lang", "/p/leave",
	} {
		if res, _ := stranger.post(path); res.StatusCode != http.StatusUnauthorized {
			t.Error(path, res.StatusCode)
		}
	}
	v := w.visit(t, of, "pessoa-1", partner.Portuguese)
	v.header = http.Header{"Sec-Fetch-Site": {"cross-site"}}
	if res, _ := v.post("/p/lang", "lang", "en"); res.StatusCode != http.StatusForbidden {
		t.Error("another site's form:", res.StatusCode)
	}
	v.header = http.Header{"Origin": {"https://mau.example"}}
	if res, _ := v.post("/p/lang", "lang", "en"); res.StatusCode != http.StatusForbidden {
		t.Error("another site's form, from an old browser:", res.StatusCode)
	}
}

// TestPagesShowOnePerson: the same user hash at two partners, and two people of one: a link shows nothing of the
// others, reads and changes nothing of theirs by their ids.
func TestPagesShowOnePerson(t *testing.T) {
	w := newWorld(t)
	one, two := w.tenant(t), w.tenant(t)
	type owner struct {
		of   tenant
		user partner.UserHash
		mark string
	}
	people := []owner{{one, "pessoa-1", "zebra"}, {two, "pessoa-1", "girafa"}, {one, "u2", "tucano"}}
	cases, findings := map[string]cyber.CaseID{}, map[string]cyber.FindingID{}
	for _, p := range people {
		w.watch(t, p.of, p.user, p.mark+"@vazamento.test")
		cases[p.mark] = w.openCase(t, p.of, p.user, "aqui fala "+p.mark)
		if _, err := w.rules.Endpoints.IssueKey(
			t.Context(),
			p.of.ID,
			cyber.DeviceRequest{User: p.user, System: cyber.Android, Name: "celular " + p.mark, Mode: p.of.Mode},
		); err != nil {
			t.Fatal(err)
		}
		list, err := w.rules.Monitoring.ListFindings(t.Context(), p.of.ID, p.user)
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		findings[p.mark] = list[0].ID
	}
	for _, p := range people {
		v := w.visit(t, p.of, p.user, partner.Portuguese)
		all := v.sees("/p/devices", "celular "+p.mark)
		all += v.sees("/p/cases/"+string(cases[p.mark]), "aqui fala "+p.mark)
		all += v.sees("/p/leaks", p.mark[:2]+"•••@")
		for _, path := range pageList {
			all += v.sees(path)
		}
		_, copied := v.post("/p/data", "format", "txt")
		if all += copied; !strings.Contains(copied, p.mark+"@vazamento.test") {
			t.Error(p.mark, "is not in their own copy:", copied)
		}
		for _, q := range people {
			if q.mark == p.mark {
				continue
			}
			for _, path := range []string{"/p/cases/" + string(cases[q.mark]), "/p/steps/" + string(findings[q.mark])} {
				res, body := v.get(path)
				if res.StatusCode != http.StatusNotFound {
					t.Error(path, res.StatusCode)
				}
				all += body
			}
			for _, try := range [][]string{
				{"/p/cases/" + string(cases[q.mark]) + "/reply", "text", "oi"},
				{"/p/cases/" + string(cases[q.mark]) + "/cancel", "reason", "x"},
				{"/p/cases/" + string(cases[q.mark]) + "/rebook", "time", "2026-12-01T14:00:00Z"},
				{"/p/cases/" + string(cases[q.mark]) + "/rate", "rating", "5"},
				{"/p/leaks/" + string(findings[q.mark]) + "/resolve", "reason", "other"},
				{"/p/steps/" + string(findings[q.mark]) + "/change-password", "state", "done"},
			} {
				res, body := v.post(try[0], try[1:]...)
				if res.StatusCode != http.StatusNotFound {
					t.Error(try, res.StatusCode)
				}
				all += body
			}
			if strings.Contains(all, q.mark) || strings.Contains(all, string(cases[q.mark])) ||
				strings.Contains(all, string(findings[q.mark])) {
				t.Errorf("%s sees something of %s", p.mark, q.mark)
			}
		}
	}
	for _, p := range people {
		c, moves, err := w.rules.Cases.ReadPersonCase(
			t.Context(),
			cyber.CaseKey{ID: cases[p.mark], Partner: p.of.ID, User: p.user},
		)
		if err != nil || c.Status != cyber.CaseOpen || len(moves) != 2 {
			t.Error(p.mark, c.Status, len(moves), err)
		}
		if list, err := w.rules.Monitoring.ListFindings(t.Context(), p.of.ID, p.user); err != nil || !list[0].Open() {
			t.Error(p.mark, "was resolved by somebody else", err)
		}
	}
}

// TestEverythingAPersonDoes: each change of a page goes through the rule of the API, and says so afterwards.
func TestEverythingAPersonDoes(t *testing.T) {
	w := newWorld(t)
	of := w.tenant(t)
	w.watch(t, of, "pessoa-1", "ana@vazamento.test")
	q, err := w.rules.Cases.AddQuestion(
		t.Context(),
		"sv_ajuda_phishing",
		"Clicou no link?",
		true,
		[]string{"Sim", "Não"},
	)
	if err != nil {
		t.Fatal(err)
	}
	times := cyber.SandboxTimes(storetest.Start) // the partner is a sandbox
	if _, err := w.rules.Cases.AddFreeSlots(t.Context(), "sv_ajuda_phishing", "", times); err != nil {
		t.Fatal(err)
	}
	v := w.visit(t, of, "pessoa-1", partner.Portuguese)
	v.sees("/p/services/sv_ajuda_phishing", "Clicou no link?", "16/11/2026 10:00", "16/11/2026 14:00")
	if res, body := v.post(
		"/p/services/sv_ajuda_phishing",
		"text",
		"guarde o que escrevi",
	); res.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(body, "guarde o que escrevi") ||
		!strings.Contains(body, `role="alert"`) {
		t.Error("a required question was not asked for again, or what was written is lost:", res.StatusCode, body)
	}
	follow := func(res *http.Response, body string) string {
		t.Helper()
		if res.StatusCode != http.StatusSeeOther {
			t.Fatal(res.StatusCode, body)
		}
		return res.Header.Get("location")
	}
	kase := follow(
		v.post(
			"/p/services/sv_ajuda_phishing",
			"q-"+string(q.ID),
			"Sim",
			"time",
			times[0].Format(time.RFC3339),
			"text",
			"Socorro\r\nagora",
		),
	)
	body := v.sees(kase, "Atendimento aberto.", "Socorro\nagora", "16/11/2026 10:00", "Clicou no link?")
	if at := strings.Index(body, `class="said">Sim`); at < 0 || at > strings.Index(body, "Socorro") {
		t.Error("what the person answered first is not the first that was said")
	}
	at, _, _ := strings.Cut(kase, "?")
	if strings.Contains(body, "\r") {
		t.Error("line breaks of a form were kept")
	}
	v.sees(follow(v.post(at+"/rebook", "time", times[1].Format(time.RFC3339))), "Horário trocado.", "16/11/2026 14:00")
	v.sees(follow(v.post(at+"/reply", "text", "mais isto")), "Mensagem enviada.", "mais isto")
	if res, _ := v.post(at+"/rate", "rating", "5"); res.StatusCode != http.StatusConflict {
		t.Error("an open case was rated:", res.StatusCode)
	}
	id := cyber.CaseID(strings.TrimPrefix(at, "/p/cases/"))
	for _, to := range []cyber.CaseStatus{cyber.CaseInProgress, cyber.CaseResolved} {
		if _, err := w.rules.Cases.MoveCase(t.Context(), id, to, "op_1", "nota interna"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.rules.Cases.MoveCase(t.Context(), id, cyber.CaseOpen, "op_1", ""); err != nil {
		t.Fatal(err)
	}
	for _, to := range []cyber.CaseStatus{cyber.CaseInProgress, cyber.CaseWaiting} {
		if _, err := w.rules.Cases.MoveCase(t.Context(), id, to, "op_1", ""); err != nil {
			t.Fatal(err)
		}
	}
	home := v.sees(
		"/p/",
		"Primeiro, a resposta que esperamos de você.",
		"Esperamos a sua resposta.",
		"Risco por vazamentos",
		"Risco por hábitos e aparelhos",
	)
	if strings.Index(home, "Esperamos a sua resposta.") > strings.Index(home, "Começar") {
		t.Error("a step is announced before the answer that is waited for")
	}
	if _, err := w.rules.Cases.MoveCase(t.Context(), id, cyber.CaseResolved, "op_1", ""); err != nil {
		t.Fatal(err)
	}
	if page := v.sees(at, "Resolvido"); strings.Contains(page, "nota interna") {
		t.Error("an operator's note is shown")
	}
	v.sees(follow(v.post(at+"/rate", "rating", "4", "comment", "bom")), "Obrigado", "A sua nota: 4")
	other := "/p/cases/" + string(w.openCase(t, of, "pessoa-1", ""))
	v.sees(follow(v.post(other+"/cancel", "reason", "não preciso")), "Atendimento cancelado.", "não preciso")

	list, err := w.rules.Monitoring.ListFindings(t.Context(), of.ID, "pessoa-1")
	if err != nil {
		t.Fatal(err)
	}
	if res, _ := v.post(
		"/p/leaks/"+string(list[0].ID)+"/resolve",
		"reason",
		"",
	); res.StatusCode != http.StatusUnprocessableEntity {
		t.Error("resolved without a reason:", res.StatusCode)
	}
	before, err := w.rules.Persons.ComputeScore(t.Context(), of.ID, "pessoa-1")
	if err != nil {
		t.Fatal(err)
	}
	v.sees(
		follow(v.post("/p/leaks/"+string(list[0].ID)+"/resolve", "reason", "password_changed")),
		"Marcado como resolvido.",
		"Troquei a senha",
		"Nada em aberto",
	)
	after, err := w.rules.Persons.ComputeScore(t.Context(), of.ID, "pessoa-1")
	if err != nil || after.Breach >= before.Breach {
		t.Error("the risk did not fall:", before.Breach, after.Breach, err)
	}
	w.watch(t, of, "pessoa-1", "bia@vazamento.test")
	if list, err = w.rules.Monitoring.ListFindings(t.Context(), of.ID, "pessoa-1"); err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	for _, f := range list {
		if f.Open() {
			tickAll(t, w, v, of, f.ID)
		}
	}
	v.sees(follow(v.post("/p/answer", "item", "senhas-repetidas", "value", "nunca")), "Resposta registrada.")
	if res, _ := v.post(
		"/p/answer",
		"item",
		"senhas-repetidas",
		"value",
		"talvez",
	); res.StatusCode != http.StatusUnprocessableEntity {
		t.Error("an answer that is not offered:", res.StatusCode)
	}
	v.post("/p/lang", "lang", "en", "back", "/p/score")
	v.sees(
		"/p/score",
		`<html lang="en">`,
		"Your risk",
		"Over time",
		"<polyline",
		"Turn on automatic updates on all devices.",
	)
	v.sees("/p/steps", "Keep your system up to date", "Are automatic updates on for your devices?", "Only on some")
	v.post("/p/lang", "lang", "es", "back", "https://mau.example/")
	v.sees("/p/leaks", `<html lang="es">`, "Filtraciones")
	v.sees("/p/cover", "R$")
	copied := *v
	v.post("/p/lang", "lang", "en", "back", "/p/") // a later text of the same session
	if res, _ := v.post("/p/leave"); res.StatusCode != http.StatusOK || v.cookie != nil {
		t.Error("nobody left")
	}
	if res, _ := copied.get("/p/"); res.StatusCode != http.StatusUnauthorized {
		t.Error("a copy of the cookie still opens the page:", res.StatusCode)
	}
	if res, _ := v.get("/p/"); res.StatusCode != http.StatusUnauthorized {
		t.Error("who left is still there:", res.StatusCode)
	}
}

// tickAll does every step of a finding's plan on its page: the last one solves it.
func tickAll(t *testing.T, w *world, v *visitor, of tenant, finding cyber.FindingID) {
	t.Helper()
	plan, err := w.rules.Monitoring.GetFindingPlan(t.Context(), of.ID, "pessoa-1", finding)
	if err != nil || len(plan.Steps) == 0 {
		t.Fatal(plan, err)
	}
	const path = "/p/steps"
	body := v.sees(path, fmt.Sprintf("0 de %d passos feitos", len(plan.Steps)), "Essencial", "Feito", "Leva cerca de")
	folded, _, _ := strings.Cut(body, plan.Steps[1].What(partner.Portuguese))
	if open := strings.Count(body, `<li class="card" id="passo-`); open != 1 ||
		strings.LastIndex(folded, "<details") < strings.LastIndex(folded, "</details>") ||
		!strings.Contains(body, ">"+plan.Steps[0].Title(partner.Portuguese)+"</h3>") {
		t.Errorf("%d steps stand open under their titles, and the second is not folded", open)
	}
	if res, _ := v.post(
		path+"/"+string(plan.Steps[0].ID),
		"state",
		"quase",
	); res.StatusCode != http.StatusUnprocessableEntity {
		t.Error("a state that there is not:", res.StatusCode)
	}
	if res, _ := v.post(path+"/nada", "state", "done"); res.StatusCode != http.StatusNotFound {
		t.Error("a step that there is not:", res.StatusCode)
	}
	for i, s := range plan.Steps {
		res, body := v.post(path+"/"+string(s.ID), "state", "done")
		if res.StatusCode != http.StatusSeeOther {
			t.Fatal(s.ID, res.StatusCode, body)
		}
		if i == 0 {
			next, _, _ := strings.Cut(res.Header.Get("location"), "#")
			page := v.sees(next, "Anotado.")
			_, behind, _ := strings.Cut(page, "Anotado.")
			if undo := strings.Index(behind, `action="/p/steps/`+string(s.ID)); undo < 0 || undo > 300 {
				t.Error("the undo of a step is not where the step was:", undo)
			}
		}
	}
	v.sees(path+"?at=0&done=solved", "Tudo feito: vazamento resolvido.")
	if after, err := w.rules.Monitoring.GetFindingPlan(
		t.Context(),
		of.ID,
		"pessoa-1",
		finding,
	); err != nil ||
		after.Finding.Open() {
		t.Error("all steps are done, and nothing is solved:", err)
	}
}

// TestCopyOfEverything: a copy is in the audit trail before it is given, and only for links of keys that could read
// all.
func TestCopyOfEverything(t *testing.T) {
	w := newWorld(t)
	of := w.tenant(t)
	w.watch(t, of, "pessoa-1", "ana@vazamento.test")
	v := w.visit(t, of, "pessoa-1", partner.Portuguese)
	for format, kind := range map[string]string{"txt": "text/plain; charset=utf-8", "json": "application/json"} {
		res, body := v.post("/p/data", "format", format)
		difftest.Check(t, format+", the status", res.StatusCode, http.StatusOK)
		header := res.Header.Clone()
		header.Set("content-type", kind)
		header.Set("cache-control", "no-store")
		difftest.Check(t, format+", the header", res.Header, header)
		if !strings.Contains(body, "ana@vazamento.test") ||
			!strings.HasPrefix(res.Header.Get("content-disposition"), `attachment; filename="meus-dados-`) {
			t.Error(format, res.Header, body)
		}
	}
	entries, err := w.rules.Audit.ListEntries(t.Context(), operator.Filter{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	difftest.Must(t, "how many lines of the trail", len(entries), 2)
	want := entries[0]
	want.Action, want.Name = "subject.export", "person"
	difftest.Check(t, "the newest line of the trail", entries[0], want)
	v.post("/p/data", "format", "txt")
	if res, _ := v.post("/p/data", "format", "txt"); res.StatusCode != http.StatusTooManyRequests {
		t.Error("copies have no end:", res.StatusCode)
	}
	_, secret, err := w.registry.CreateKey(
		t.Context(),
		of.ID,
		"só cyber",
		[]partner.Scope{partner.ScopeCyber},
		time.Time{},
	)
	if err != nil {
		t.Fatal(err)
	}
	if of.caller, err = partner.NewKeyGate(w.Store.Partners, w.Clock.Now).Authenticate(t.Context(), secret, partner.ScopeCyber); err != nil {
		t.Fatal(err)
	}
	v = w.visit(t, of, "pessoa-1", partner.Portuguese)
	if page := v.sees("/p/data", "não permite"); strings.Contains(page, "<form class") {
		t.Error("a copy is offered")
	}
	if res, body := v.post(
		"/p/data",
		"format",
		"txt",
	); res.StatusCode != http.StatusNotFound ||
		strings.Contains(body, "ana@") {
		t.Error("a key that reads no subscriptions gives a copy of them:", res.StatusCode)
	}
}

// hostile is what a breach's title, a device's name or a message may hold.
const hostile = `<img src=x onerror=alert(1)>"'}]]><script>alert(2)</script>{{.}}`

// TestHostileTexts: what others wrote is text and nothing else.
func TestHostileTexts(t *testing.T) {
	w := newWorld(t)
	of := w.tenant(t)
	w.watch(t, of, "pessoa-1", "ana@vazamento.test")
	kase := w.openCase(t, of, "pessoa-1", hostile)
	if _, err := w.rules.Endpoints.IssueKey(
		t.Context(),
		of.ID,
		cyber.DeviceRequest{User: "pessoa-1", System: cyber.IOS, Name: hostile, Mode: of.Mode},
	); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Store.Breaches.UpdateBreach(
		t.Context(),
		cyber.SandboxBreach,
		func(r *leak.Record) error { r.Title = hostile; return nil },
	); err != nil {
		t.Fatal(err)
	}
	_, err := w.registry.UpdateTheme(t.Context(), of.ID, func(th *partner.Theme) {
		th.Title, th.Texts = hostile, map[partner.Language]partner.ThemeTexts{
			partner.Portuguese: {Intro: hostile, Contact: hostile},
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	v := w.visit(t, of, "pessoa-1", partner.Portuguese)
	for _, path := range append([]string{"/p/cases/" + string(kase)}, pageList...) {
		body := v.sees(path, "&lt;script&gt;alert(2)")
		if strings.Contains(body, "<script") || strings.Contains(body, "<img src=x") {
			t.Errorf("%s: what others wrote is markup:\n%s", path, body)
		}
	}
}

// TestRates: one link, and one address, ask no more than they may.
func TestRates(t *testing.T) {
	w := newWorld(t)
	of := w.tenant(t)
	w.watch(t, of, "pessoa-1", "ana@vazamento.test")
	v := w.visit(t, of, "pessoa-1", partner.Portuguese)
	until := func(limit int, ask func() *http.Response) {
		t.Helper()
		for i := range limit + 1 {
			if res := ask(); res.StatusCode == http.StatusTooManyRequests {
				if res.Header.Get("retry-after") == "" {
					t.Error("nobody is told when to come back")
				}
				return
			} else if i == limit {
				t.Error("no end after", limit)
			}
		}
	}
	until(25, func() *http.Response { res, _ := v.post("/p/lang", "lang", "pt-BR"); return res })
	until(100, func() *http.Response { res, _ := v.get("/p/data"); return res })
	if res, _ := w.visit(t, of, "pessoa-1", partner.Portuguese).get("/p/data"); res.StatusCode != http.StatusOK {
		t.Error("a new link has to pay for the old one:", res.StatusCode)
	}
	stranger := &visitor{t: t, pages: w.pages}
	until(700, func() *http.Response { res, _ := stranger.get("/p/enter/nada"); return res })
}

// TestPageWeight: with all that a page shows, a logo of the largest kind and every language, no page with its sheets
// weighs 60 KB, before packing.
func TestPageWeight(t *testing.T) {
	w := newWorld(t)
	of := w.tenant(t)
	var mails []string
	for i := range 25 {
		mails = append(mails, fmt.Sprintf("pessoa-de-nome-comprido-%02d@vazamento.test", i))
	}
	w.watch(t, of, "pessoa-1", mails...)
	kase := w.openCase(t, of, "pessoa-1", "")
	for range 30 {
		key := cyber.CaseKey{ID: kase, Partner: of.ID, User: "pessoa-1"}
		if _, err := w.rules.Cases.AddMessage(
			t.Context(),
			key,
			cyber.Message{Text: strings.Repeat("Uma frase longa. ", 110)},
		); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 25 {
		w.openCase(t, of, "pessoa-1", "")
		name := fmt.Sprintf("Aparelho de nome comprido número %d", i)
		if _, err := w.rules.Endpoints.IssueKey(
			t.Context(),
			of.ID,
			cyber.DeviceRequest{User: "pessoa-1", System: cyber.Windows, Name: name, Mode: of.Mode},
		); err != nil {
			t.Fatal(err)
		}
	}
	for day := range 60 {
		if err := w.Store.Advice.KeepScore(
			t.Context(),
			of.ID,
			"pessoa-1",
			cyber.ScoreDay{Day: 20000 + int64(day), Breach: int64(day) * 10, Assessment: 500},
		); err != nil {
			t.Fatal(err)
		}
	}
	const limit, homeLimit, largestLogo = 60_000, 20 << 10, 20 << 10
	for _, lang := range partner.ListLanguages() {
		v := w.visit(t, of, "pessoa-1", lang)
		_, style := v.get("/p/page.css")
		_, theme := v.get("/p/theme.css")
		sheets := len(style) + len(theme) + largestLogo
		for _, path := range append([]string{
			"/p/leaks?page=2", "/p/more", "/p/cases/" + string(kase), "/p/services/sv_ajuda_phishing",
		}, pageList...) {
			body := v.sees(path)
			if strings.Contains(body, "<script") || strings.Contains(body, " style=") {
				t.Errorf("%s has a script, or style of its own", path)
			}
			if total := len(body) + len(style); path == "/p/" && total > homeLimit {
				t.Errorf("the first page in %s: %d bytes with its style sheet", lang, total)
			}
			if total := len(body) + sheets; total >= limit {
				t.Errorf("%s in %s: %d bytes, %d of them the page itself", path, lang, total, len(body))
			} else if lang == partner.Portuguese {
				t.Logf("%s: %d bytes, %d in all", path[:min(len(path), 20)], len(body), total)
			}
		}
	}
}

// TestClosedPageLeadsBack: who comes late is told where to get another link.
func TestClosedPageLeadsBack(t *testing.T) {
	w := newWorld(t)
	of := w.tenant(t)
	w.watch(t, of, "pessoa-1", "ana@vazamento.test")
	link := w.link(t, of, "pessoa-1", partner.English)
	w.Clock.Advance(cyber.LinkLife)
	rec := httptest.NewRecorder()
	w.pages.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, link, nil))
	if body := rec.Body.String(); rec.Code != http.StatusUnauthorized || !strings.Contains(body, `<html lang="en">`) ||
		!strings.Contains(body, "https://app.banco.com.br/") {
		t.Error(rec.Code, body)
	}
}

// TestDaysOfBrazil: in the late evening of Brazil, when the next day has begun in UTC, pages say the day of Brazil.
func TestDaysOfBrazil(t *testing.T) {
	w := newWorld(t)
	of := w.tenant(t)
	w.Clock.Advance(time.Date(2026, 11, 16, 1, 30, 0, 0, time.UTC).Sub(w.Clock.Now()))
	w.watch(t, of, "pessoa-1", "zebra@vazamento.test")
	opened := w.openCase(t, of, "pessoa-1", "")
	v := w.visit(t, of, "pessoa-1", partner.Portuguese)
	for _, path := range []string{"/p/leaks", "/p/score", "/p/cases", "/p/cases/" + string(opened)} {
		body := v.sees(path, "15/11/2026")
		if strings.Contains(body, "16/11/2026") {
			t.Errorf("%s tells of tomorrow", path)
		}
	}
}

// TestDevices: a key that was issued is still to be installed, by a link or a code; one that reported protects.
func TestDevices(t *testing.T) {
	w := newWorld(t)
	of := w.tenant(t)
	d, err := w.rules.Endpoints.IssueKey(
		t.Context(),
		of.ID,
		cyber.DeviceRequest{User: "pessoa-1", System: cyber.Android, Name: "Celular", Mode: of.Mode},
	)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.rules.Endpoints.SetInstallLink(
		t.Context(),
		cyber.Android,
		"https://loja.exemplo.com.br/app",
	); err != nil {
		t.Fatal(err)
	}
	v := w.visit(t, of, "pessoa-1", partner.Portuguese)
	v.sees("/p/devices", "Falta instalar", `href="https://loja.exemplo.com.br/app"`, d.Key, `class="ink"`)
	if _, err := w.rules.Endpoints.ReportProtected(t.Context(), of.ID, d.Key); err != nil {
		t.Fatal(err)
	}
	v.sees("/p/devices", "Protegido", "Visto em")
}

// TestTickIsToldWhereTheStepStood: a step further down that is ticked is told there, and the last one at the end.
func TestTickIsToldWhereTheStepStood(t *testing.T) {
	w := newWorld(t)
	of := w.tenant(t)
	w.watch(t, of, "pessoa-1", "ana@vazamento.test")
	v := w.visit(t, of, "pessoa-1", partner.Portuguese)
	list, err := w.rules.Monitoring.ListPlans(t.Context(), of.ID, "pessoa-1")
	if err != nil || len(list) != 1 || len(list[0].Steps) < 3 {
		t.Fatal(list, err)
	}
	body := v.sees("/p/steps")
	for _, place := range []int{1, len(list[0].Steps) - 2} { // one of the middle, and the last that is left then
		form := regexp.MustCompile(
			fmt.Sprintf(`action="/p/steps/([^"]+)"><input type="hidden" name="at" value="%d"`, place),
		).FindStringSubmatch(body)
		if form == nil {
			t.Fatalf("no step stands at %d:\n%s", place, body)
		}
		res, _ := v.post("/p/steps/"+form[1], "state", "done", "at", strconv.Itoa(place))
		to, anchor, _ := strings.Cut(res.Header.Get("location"), "#")
		body = v.sees(to, "Anotado.")
		_, behind, found := strings.Cut(body, `id="`+anchor+`"`)
		if told := strings.Index(behind, "Anotado."); !found || told < 0 || told > 300 ||
			anchor != "passo-"+strconv.Itoa(place) {
			t.Errorf("the tick of the step at %d is told elsewhere than at %q:\n%s", place, anchor, body)
		}
	}
}

// TestWhatDoesNotApplyIsNotDone: a step that does not apply is counted neither among those that are done nor among
// those that there are.
func TestWhatDoesNotApplyIsNotDone(t *testing.T) {
	w := newWorld(t)
	of := w.tenant(t)
	w.watch(t, of, "pessoa-1", "ana@vazamento.test")
	v := w.visit(t, of, "pessoa-1", partner.Portuguese)
	list, err := w.rules.Monitoring.ListPlans(t.Context(), of.ID, "pessoa-1")
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	steps := list[0].Steps
	at := slices.IndexFunc(steps, func(s cyber.PlannedStep) bool { return !s.Essential })
	if at < 0 {
		t.Fatal("no step can be left out")
	}
	if res, body := v.post("/p/steps/"+string(steps[at].ID), "state", "skipped"); res.StatusCode != http.StatusSeeOther {
		t.Fatal(res.StatusCode, body)
	}
	said := fmt.Sprintf("0 de %d passos feitos", len(steps)-1)
	for _, path := range []string{"/p/", "/p/steps", "/p/leaks"} {
		v.sees(path, said)
	}
}
