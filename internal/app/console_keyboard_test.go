package app_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/platform/gatetest"
	"github.com/vigiahq/vigia/internal/platform/polltest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// newCase opens a case for the person of the stage, as the partner does.
func (s *stage) newCase() cyber.CaseID {
	s.t.Helper()
	s.must(s.t, "POST", s.api+"/cyber/case", s.key, `{"userHash":"`+s.user+`","serviceId":"sv_ajuda_phishing"}`)
	list, err := s.app.Cases.ListCases(s.ctx, cyber.CaseFilter{Limit: 1})
	if err != nil || len(list) != 1 {
		s.t.Fatal(list, err)
	}
	return list[0].ID
}

// TestReasonTypedOnACaseMovesNothing types the reason for a reveal as a person does, key by key: every letter goes into
// the reason, and none of them takes or moves the case.
func TestReasonTypedOnACaseMovesNothing(t *testing.T) {
	gatetest.Needs(t, gatetest.Browser)
	t.Parallel()
	a := open(t, common(t, sqldb.SQLite))
	s := newStage(t, a)
	srv := serveLogged(t, a, (*app.Server).RelaxSecondFactor)
	s.browser, s.api = newBrowser(t, "http://"+srv.ConsoleAddr.String()), "http://"+srv.APIAddr.String()+"/v1"
	s.must(t, "POST", s.api+"/subscriptions", s.key, "["+fmt.Sprintf(simItem, s.cpf)+"]")
	_, token, err := a.Operators.CreateOperator(s.ctx, "atende@exemplo.com.br", operator.Support)
	s.come(token, err)
	id := s.newCase()

	const reason = "Ligacao protocolo 123 eajkrm/?"
	s.visit("/cases/" + string(id))
	s.do(chromedp.Click(`details:has(form[action$="/reveal"]) > summary`, chromedp.NodeVisible))
	s.do(chromedp.KeyEvent(reason))
	if typed := eval[string](
		s.browser,
		`document.querySelector('form[action$="/reveal"] [name="reason"]')?.value ?? location.pathname`,
	); typed != reason {
		t.Errorf("the reason holds %q", typed)
	}
	c, moves, err := a.Cases.GetCase(s.ctx, id)
	if err != nil || c.Status != cyber.CaseOpen || c.Assignee != "" || len(moves) != 1 {
		t.Errorf("typing a reason left the case %s, of %q, with %d lines: %v", c.Status, c.Assignee, len(moves), err)
	}
}

// TestArrowsTurnThroughTheList goes from one case to the next and back, in the order of the desk.
func TestArrowsTurnThroughTheList(t *testing.T) {
	gatetest.Needs(t, gatetest.Browser)
	t.Parallel()
	a := open(t, common(t, sqldb.SQLite))
	s := newStage(t, a)
	srv := serveLogged(t, a, (*app.Server).RelaxSecondFactor)
	s.browser, s.api = newBrowser(t, "http://"+srv.ConsoleAddr.String()), "http://"+srv.APIAddr.String()+"/v1"
	_, token, err := a.Operators.CreateOperator(s.ctx, "atende@exemplo.com.br", operator.Support)
	s.come(token, err)
	s.newCase()
	s.newCase()
	s.visit("/cases")
	list := strings.Fields(eval[string](s.browser, `JSON.parse(sessionStorage.getItem("vigia-queue")).join(" ")`))
	if len(list) != 2 {
		t.Fatal("the desk remembers", list)
	}
	s.visit(list[0])
	for i, arrow := range []string{"next", "prev"} {
		s.press(`[data-turn] [rel="` + arrow + `"]`)
		if at := eval[string](
			s.browser,
			`location.pathname + document.querySelector("[data-turn]").innerText.replace(/\s+/g, " ")`,
		); !strings.HasPrefix(at, list[1-i]) ||
			!strings.Contains(at, fmt.Sprint(2-i, " de 2")) {
			t.Errorf("%s leads to %s", arrow, at)
		}
	}
}

// TestFinalMoveCanBeUndone resolves a case by its page, with one key: nothing asks, the page offers to undo it, and the
// partner is told only of what was not undone.
func TestFinalMoveCanBeUndone(t *testing.T) {
	gatetest.Needs(t, gatetest.Browser)
	t.Parallel()
	a := open(t, common(t, sqldb.SQLite))
	s := newStage(t, a)
	work := make(chan struct{}) // until it is closed no waiting move is made, however slow the browser is
	srv := serveLogged(t, a, (*app.Server).RelaxSecondFactor, func(s *app.Server) { s.WorkAfter(work) })
	s.browser, s.api = newBrowser(t, "http://"+srv.ConsoleAddr.String()), "http://"+srv.APIAddr.String()+"/v1"
	_, token, err := a.Operators.CreateOperator(s.ctx, "atende@exemplo.com.br", operator.Support)
	s.come(token, err)
	id := s.newCase()
	page := "/cases/" + string(id)
	s.visit(page)
	s.do(chromedp.KeyEvent("a"))
	s.see("Caso assumido")
	s.do(chromedp.KeyEvent("e"))
	s.see("O parceiro será avisado")
	s.visit(page)
	s.press(`form[action$="/undo"] button`)
	s.see("Desfeito")
	resolve := func() {
		t.Helper()
		s.visit(page)
		s.unfold(`form[action$="/end"] button[value="here"]`)
		s.press(`form[action$="/end"] button[value="here"]`)
		s.see("O parceiro será avisado")
	}
	resolve()
	s.press(`form[action$="/undo"] button`)
	s.see("Desfeito")
	if c, moves, err := a.Cases.GetCase(
		s.ctx,
		id,
	); err != nil || c.Status != cyber.CaseInProgress || c.Ending.To != "" ||
		len(moves) != 2 {
		t.Errorf("undone: %+v, %d lines, %v", c, len(moves), err)
	}
	resolve()
	theirs := func() string { return s.must(t, "GET", s.api+"/cyber/cases/"+s.user, s.key, "") }
	if now := theirs(); strings.Contains(now, `"Resolvido"`) {
		t.Error("the partner is told before the move can no longer be undone:", now)
	}
	close(work)
	polltest.Watch(t, func() (string, bool) {
		return "the case was never resolved", strings.Contains(theirs(), `"Resolvido"`)
	})
}

// TestResolvingFollowsTheQueue resolves the last but one case of a desk that is turned round: the page goes on with the
// one behind it there, not with the most urgent one.
func TestResolvingFollowsTheQueue(t *testing.T) {
	gatetest.Needs(t, gatetest.Browser)
	t.Parallel()
	a := open(t, common(t, sqldb.SQLite))
	s := newStage(t, a)
	srv := serveLogged(t, a, (*app.Server).RelaxSecondFactor)
	s.browser, s.api = newBrowser(t, "http://"+srv.ConsoleAddr.String()), "http://"+srv.APIAddr.String()+"/v1"
	_, token, err := a.Operators.CreateOperator(s.ctx, "atende@exemplo.com.br", operator.Support)
	s.come(token, err)
	for range 4 {
		s.newCase()
	}
	s.visit("/cases")
	list := strings.Fields(eval[string](s.browser, `JSON.parse(sessionStorage.getItem("vigia-queue")).join(" ")`))
	if len(list) != 4 {
		t.Fatal("the desk remembers", list)
	}
	s.visit(list[2])
	s.press(`form[action$="/take"] button`)
	s.see("Caso assumido")
	s.press(`form.resolve button`)
	s.see("O parceiro será avisado")
	if at := eval[string](s.browser, `location.pathname`); at != list[3] {
		t.Errorf("behind %s of %v comes %s", list[2], list, at)
	}
}

// TestRevealKeepsThePlace shows a conversation from the middle of the page: what one was reading stays where it was.
func TestRevealKeepsThePlace(t *testing.T) {
	gatetest.Needs(t, gatetest.Browser)
	t.Parallel()
	a := open(t, common(t, sqldb.SQLite))
	s := newStage(t, a)
	srv := serveLogged(t, a, (*app.Server).RelaxSecondFactor)
	s.browser, s.api = newBrowser(t, "http://"+srv.ConsoleAddr.String()), "http://"+srv.APIAddr.String()+"/v1"
	_, token, err := a.Operators.CreateOperator(s.ctx, "atende@exemplo.com.br", operator.Support)
	s.come(token, err)
	s.visit("/cases/" + string(s.newCase()))
	s.do(chromedp.EmulateViewport(390, 300))
	s.unfold(`form[action$="/reveal"]`)
	if at := eval[int](s.browser, `(scrollTo(0, 120), Math.round(scrollY))`); at != 120 {
		t.Fatal("the page does not scroll to 120 but to", at)
	}
	eval[bool](s.browser, `(document.querySelector('form[action$="/reveal"] [name="preset"]').click(), true)`)
	s.see("Conversa aberta por você")
	if at := eval[int](s.browser, `Math.round(scrollY)`); at != 120 {
		t.Error("the page was read at 120 and comes back at", at)
	}
}
