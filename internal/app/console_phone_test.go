package app_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/platform/gatetest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// TestCasesOnATelephone: a case takes three lines of the desk; its page tells the deadline at the top, and the box that
// answers covers no message of a long conversation.
func TestCasesOnATelephone(t *testing.T) {
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
	for i := range 12 {
		if _, err := a.Cases.AddReply(s.ctx, id, "atende@exemplo.com.br", fmt.Sprint("Resposta ", i)); err != nil {
			t.Fatal(err)
		}
	}
	s.do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile))
	s.visit("/cases")
	row := eval[struct{ Lines, Height int }](s.browser, `(row => ({
		Lines: new Set([...row.cells].filter(c => c.offsetHeight > 0 && !c.matches(".e, .p"))
			.map(c => Math.round((c.getBoundingClientRect().top + c.getBoundingClientRect().bottom) / 20))).size,
		Height: row.offsetHeight,
	}))(document.querySelector(".desk-rows tbody tr"))`)
	if row.Lines != 3 || row.Height > 100 {
		t.Errorf("a case takes %d lines of %d pixels in all", row.Lines, row.Height)
	}
	s.visit("/cases/" + string(id))
	top := eval[float64](s.browser, `[...document.querySelectorAll(".badge")]
		.filter(b => b.offsetHeight > 0 && /prazo|Falta|Vence|Atrasado/i.test(b.innerText))
		.map(b => b.getBoundingClientRect().top)[0] ?? 9999`)
	if top > 300 {
		t.Errorf("the deadline stands %.0f pixels below the top", top)
	}
	covered := eval[[]string](s.browser, `[...document.querySelectorAll(".thread .msg")].filter(message => {
		message.scrollIntoView({block: "end"});
		const at = message.getBoundingClientRect();
		return document.elementFromPoint(at.left + at.width / 2, at.bottom - 4)?.closest(".compose");
	}).map(message => message.innerText)`)
	if len(covered) > 0 {
		t.Errorf("the box that answers covers %d messages: %q", len(covered), covered)
	}
}

// TestKeysOnDemand: "?" shows the keys and hides them, one key asks for the reason of a reveal, and a menu that is open
// takes no key from the page.
func TestKeysOnDemand(t *testing.T) {
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
	s.visit("/cases/" + string(id))

	shown := func() bool { return eval[bool](s.browser, `document.getElementById("keys").matches(":popover-open")`) }
	s.typeKeys("?")
	s.see("Atalhos do teclado")
	if !shown() {
		t.Fatal("the keys are not shown")
	}
	s.look("keys")
	s.visit("/cases/" + string(id))
	s.typeKeys("?")
	if s.typeKeys("?"); shown() {
		t.Error("the keys stay")
	}
	s.typeKeys("?")
	s.typeKeys("\x1b")
	if shown() {
		t.Error("Escape does not close the keys")
	}

	for _, page := range []string{"/findings", "/cases/" + string(id)} {
		s.visit(page)
		if unnamed := eval[[]string](s.browser, `(shown => [...document.querySelectorAll("[data-key]")]
			.map(of => of.dataset.key).filter(key => !shown.includes(key)))(
				[...document.querySelectorAll("#keys kbd")].map(kbd => kbd.textContent))`); len(unnamed) > 0 {
			t.Errorf("the keys of %s do not name %q", page, unnamed)
		}
	}

	// What is open closes by a click elsewhere, and a menu by the next key, which does what it always does.
	isOpen := func(form string) bool {
		return eval[bool](s.browser, `document.querySelector('details:has(`+form+`)').open`)
	}
	const menu, reveal = `.pop-box form[action$="/end"] .danger`, `form[action$="/reveal"]`
	s.unfold(menu)
	if !isOpen(menu) {
		t.Fatal("the menu does not open")
	}
	s.glance("case-menu-open")
	s.do(chromedp.MouseClickXY(700, 700))
	if isOpen(menu) {
		t.Error("a click elsewhere does not close the menu")
	}
	s.unfold(menu)
	s.typeKeys("m")
	if isOpen(menu) || !isOpen(reveal) {
		t.Error("the menu swallowed the key of the reveal")
	}
	if on := eval[string](s.browser, `document.activeElement.name`); on != "reason" {
		t.Errorf("the key of the reveal leads to the field %q", on)
	}
	s.glance("case-reveal-open")
	s.typeKeys("mae?")
	s.do(chromedp.MouseClickXY(700, 700))
	if typed := eval[string](s.browser, `document.querySelector('`+reveal+` [name="reason"]').value`); typed != "mae?" ||
		!isOpen(reveal) {
		t.Errorf("a reason that was begun is lost: %q", typed)
	}
	s.visit("/cases/" + string(id))
	s.typeKeys("m")
	if s.do(chromedp.MouseClickXY(700, 700)); isOpen(reveal) {
		t.Error("a click elsewhere does not close an empty form")
	}
}

// TestPagesOnPaper: printed pages say all that the page says and nothing of what one does on it, and say the zone of
// their times once.
func TestPagesOnPaper(t *testing.T) {
	gatetest.Needs(t, gatetest.Browser)
	t.Parallel()
	a := open(t, common(t, sqldb.SQLite))
	s := newStage(t, a)
	srv := serveLogged(t, a, (*app.Server).RelaxSecondFactor)
	s.browser, s.api = newBrowser(t, "http://"+srv.ConsoleAddr.String()), "http://"+srv.APIAddr.String()+"/v1"
	_, token, err := a.Operators.CreateOperator(s.ctx, "analisa@exemplo.com.br", operator.Admin)
	s.come(token, err)
	id := s.newCase()
	if _, err := a.Cases.AddReply(s.ctx, id, "analisa@exemplo.com.br", "Pode mandar a mensagem?"); err != nil {
		t.Fatal(err)
	}
	for path, says := range map[string]string{
		"/cases/" + string(id): "Pode mandar a mensagem?",
		"/incidents":           "Incidentes",
		"/exports":             "Exportações",
	} {
		s.visit(path)
		if n := strings.Count(eval[string](s.browser, `document.body.innerText`), "Brasília"); n != 1 {
			t.Errorf("%s names the zone %d times", path, n)
		}
		s.media("print")
		paper := eval[struct {
			Text   string
			Things []string
			Wide   int
		}](s.browser, `({
			Text: document.body.innerText,
			Things: [...document.querySelectorAll("nav, form, button, .button, summary.button, textarea, .finder")]
				.filter(e => e.offsetHeight > 0 && !e.closest("dl")).map(e => e.outerHTML.slice(0, 80)),
			Wide: document.querySelector("main").getBoundingClientRect().left,
		})`)
		if len(paper.Things) > 0 || !strings.Contains(paper.Text, says) || paper.Wide > 10 ||
			!strings.Contains(paper.Text, "impresso por analisa@exemplo.com.br") {
			t.Errorf("%s on paper begins at %d, has %q and says %q", path, paper.Wide, paper.Things, paper.Text)
		}
		s.media("")
	}
}
