package app_test

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/vigiahq/vigia/internal/app/apptest"
	"github.com/vigiahq/vigia/internal/platform/gatetest"
)

// TestReferenceInABrowser reads the partners' documentation and tries an operation, in a real browser without any other
// network. The browser's own complaints, a refusal by the page's policy among them, fail the test.
func TestReferenceInABrowser(t *testing.T) {
	gatetest.Needs(t, gatetest.Browser)
	t.Parallel()
	s := apptest.Start(t)
	b := newBrowser(t, s.URL)
	for _, page := range [][2]string{
		{"/docs/", "docs-overview"},
		{"/docs/errors", "docs-errors"},
		{"/docs/events", "docs-events"},
		{"/docs/guides/user-hash", "docs-guide"},
		{"/docs/operations/createSubscriptions", "docs-operation"},
		{"/docs/en/", "docs-english"},
		{"/docs/changelog", "docs-changelog"},
		{"/docs/search", "docs-search"},
	} {
		b.visit(page[0])
		b.look(page[1])
	}

	// The search leaves pages that have all words, with or without their accents.
	b.visit("/docs/search#ocorrencia%20resolver")
	if shown := eval[string](
		b,
		`[...document.querySelectorAll(".found li")].filter((l) => !l.hidden).map((l) => l.innerText).join("\n")`,
	); !strings.Contains(shown, "Resolver uma ocorrência") ||
		strings.Contains(shown, "Criar uma chave de API") {
		t.Errorf("the search shows:\n%s", shown)
	}

	b.visit("/docs/operations/addMonitoredAsset")
	b.see("curl -s")
	// The button says so for two seconds, in which a starved machine may not get to look.
	eval[bool](b, `((button) => {
		window.said = new Promise((done) =>
			new MutationObserver(() => done(button.textContent)).observe(button, {childList: true}));
		return true;
	})(document.querySelector("pre.curl .copy"))`)
	b.do(chromedp.Click("pre.curl .copy"))
	if said := eval[string](b, `window.said`); said != "Copiado" {
		t.Errorf("what was copied is told with %q", said)
	}
	b.do(chromedp.Click(`label[for="language-go"]`, chromedp.NodeVisible))
	b.see("vigia.AddMonitoredAsset")
	typeKey(b, "vg_test_wrong")
	b.do(chromedp.Click(".try button"))
	answered(b, "403 Forbidden")
	typeKey(b, s.Sandbox.APIKey)
	b.do(chromedp.Click(".try button"))
	answered(b, "Dados adicionados com sucesso.")
	b.judge("docs-tried")

	// The language and the sandbox key are still there on another page, and its example finds what was added.
	b.visit("/docs/operations/listMonitoredAssets")
	b.see("vigia.ListMonitoredAssets")
	b.do(chromedp.Click(".try button"))
	answered(b, `"value": "ana.souza@exemplo.com.br"`)

	// So they are in English, by a switch that leads to the same page.
	b.press(`.switch a[hreflang="en"]`)
	b.see("List the monitored assets of a user")
	b.do(chromedp.Click(".try button"))
	answered(b, `"value": "ana.souza@exemplo.com.br"`)

	typeKey(b, "vg_live_x")
	b.see("This is a live key")
	b.visit("/docs/operations/listMonitoredAssets")
	if kept := eval[string](b, `document.querySelector("#try-key").value`); kept != "" {
		t.Error("a live key was kept")
	}
}

// typeKey puts another key into the form, and types its last character.
func typeKey(b *browser, key string) {
	b.t.Helper()
	eval[bool](b, `document.querySelector("#try-key").value = "`+key[:len(key)-1]+`"; true`)
	b.do(chromedp.SendKeys("#try-key", key[len(key)-1:]))
}

// answered waits until the form shows an answer.
func answered(b *browser, want string) {
	b.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		said := eval[string](b, `document.querySelector(".try output").innerText`)
		if strings.Contains(said, want) {
			return
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("the form never showed %q: %s", want, said)
		}
	}
}
