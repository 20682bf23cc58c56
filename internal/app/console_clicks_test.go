package app_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/platform/gatetest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// TestClicksOfTasks walks nine everyday tasks by their shortest way and counts the clicks, as docs/internal/testing.md
// tells them. Typing is free, Enter is a click, and a value of a list takes two. The tenth task is in
// TestPersonTicksThreeSteps.
func TestClicksOfTasks(t *testing.T) {
	gatetest.Needs(t, gatetest.Browser)
	t.Parallel()
	a := open(t, common(t, sqldb.SQLite))
	s := newStage(t, a)
	srv := serveLogged(t, a, (*app.Server).RelaxSecondFactor)
	s.browser, s.api = newBrowser(t, "http://"+srv.ConsoleAddr.String()), "http://"+srv.APIAddr.String()+"/v1"
	s.must(t, "POST", s.api+"/subscriptions", s.key, "["+fmt.Sprintf(simItem, s.cpf)+"]")
	for range 7 {
		s.newCase()
	}
	const ready = "Não clique no link."
	if err := a.Cases.SaveReadyAnswer(s.ctx, cyber.ReadyAnswer{Title: "Link", Text: ready}); err != nil {
		t.Fatal(err)
	}
	const colleague = "colega@exemplo.com.br"
	if _, _, err := a.Operators.CreateOperator(s.ctx, colleague, operator.Support); err != nil {
		t.Fatal(err)
	}
	countCases := func(has func(cyber.Case) bool) (n int) {
		list, err := a.Cases.ListCases(s.ctx, cyber.CaseFilter{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list {
			if has(c) {
				n++
			}
		}
		return n
	}
	walk := func(task, from string, clicks int, do func()) {
		t.Helper()
		if from != "" {
			s.visit(from)
		}
		s.clicks = 0
		do()
		if s.clicks != clicks {
			t.Errorf("%s: %d clicks, not %d", task, s.clicks, clicks)
		}
	}

	_, token, err := a.Operators.CreateOperator(s.ctx, "atende@exemplo.com.br", operator.Support)
	s.come(token, err)
	walk("find a caller by CPF and read their contact", "/", 3, func() {
		s.fill("form.search", "q", s.cpf)
		s.press("form.search button")
		s.unfold(`form[action$="/reveal"]`)
		s.press(`form[action$="/reveal"] button[name="preset"]`)
		s.see(stagePerson)
	})
	walk("take a case from the desk and start it", "/cases", 2, func() {
		s.press("tbody tr:first-child a.open")
		s.press(`form[action$="/take"] button`)
		s.see("Caso assumido")
	})
	if countCases(func(c cyber.Case) bool {
		return c.Status == cyber.CaseInProgress && c.Assignee == "atende@exemplo.com.br"
	}) != 1 {
		t.Error("the case was not started")
	}
	walk("answer with a text that is used often", "", 3, func() {
		s.unfold("[data-insert]")
		s.tap("[data-insert]")
		s.press("form.compose button.tone")
		s.see(ready)
	})
	was := eval[string](s.browser, `location.pathname`)
	behind := eval[string](s.browser, `JSON.parse(sessionStorage.getItem("vigia-queue"))[1]`)
	walk("resolve a case and open the next one", "", 1, func() {
		s.press(`form.resolve [value="next"]`)
		s.see("O parceiro será avisado")
	})
	if now := eval[string](s.browser, `location.pathname`); now == was || now != behind {
		t.Error("resolving leads to", now, "and the queue goes on with", behind)
	}
	walk("give five cases to a colleague", "/cases", 8, func() {
		for row := range 5 {
			s.tap(fmt.Sprintf(`tbody tr:nth-child(%d) [name="row"]`, row+1))
		}
		s.choose("#assignee", colleague)
		s.press(`.bulk button[type="submit"]:not([name])`)
	})
	if n := countCases(func(c cyber.Case) bool { return c.Assignee == colleague }); n != 5 {
		t.Error(n, "cases were given to the colleague")
	}
	s.leave()

	_, token, err = a.Operators.CreateOperator(s.ctx, "analisa@exemplo.com.br", operator.Admin)
	s.come(token, err)
	walk("see the cases that are late", "/", 1, func() {
		s.press(`a.tile[href*="due=late"]`)
		if tab := eval[string](
			s.browser,
			`document.querySelector(".tabs [aria-current]").textContent`,
		); tab != "Atrasados 0" {
			t.Error("the overview leads to", tab)
		}
	})
	walk("import a leak from this computer", "/", 4, func() {
		s.press(`nav a[href="/breaches"]`)
		s.press(`.actions a[href="/breaches/new?from=upload"]`)
		s.fill("main form", "name", "loja-nova", "title", "Loja Nova", "date", "01/10/2026")
		s.clicks++ // opens the system's window
		s.do(chromedp.SetUploadFiles(`input[type="file"]`, []string{writeLines(t, 100)}))
		s.press(`main form button[type="submit"]`)
		s.see("Importação iniciada")
	})
	s.leave()

	sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "banco de dados cheio", http.StatusInternalServerError)
	}))
	defer sink.Close()
	_, token, err = a.Operators.InvitePartnerOperator(s.ctx, s.partner, "dev@exemplo.com.br", operator.Developer)
	s.come(token, err)
	s.visit("/partners/" + string(s.partner))
	s.press(`a[href^="/webhooks/"][href$="/new"]`)
	s.fill("main form", "url", sink.URL)
	s.press(`main form button[type="submit"]`)
	s.press("main p a.button")
	webhook := eval[string](s.browser, `location.pathname`)
	s.must(
		t,
		"POST",
		s.api+"/cyber/monitoring",
		s.key,
		`{"userHash":"`+s.user+`","type":"email","value":"alguem7@exemplo.org"}`,
	)
	s.wait(webhook, "banco de dados cheio")
	walk("read why a delivery fails and send it again", "/", 2, func() {
		s.press(`main a[href="` + webhook + `"]`)
		s.see("banco de dados cheio")
		s.press(`.delivery:has(.wrap) form[action$="/replay"] button`)
		s.see("Reenvio na fila")
	})
	if status, answer := call(
		t,
		"POST",
		s.api+"/cyber/monitoring",
		s.key,
		`{"userHash":"`+s.user+`","type":"email","value":"torto"}`,
	); status != http.StatusBadRequest {
		t.Fatal(status, answer)
	}
	s.wait("/", "asset.invalid")
	walk("read why a request was refused", "/", 1, func() {
		s.press(`a.tile[href$="/requests?hoje=1&failed=1"]`)
		s.see("asset.invalid: value")
	})
}
