package app_test

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/platform/gatetest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// TestPasskeys: a real browser with an authenticator of its own adds a passkey, adds no second one to that
// authenticator, logs in with it alone, and can no longer once it was removed. The name is localhost, because a passkey
// is bound to a name and an address is none.
func TestPasskeys(t *testing.T) {
	gatetest.Needs(t, gatetest.Browser)
	t.Parallel()
	a := open(t, common(t, sqldb.SQLite))
	srv := serveLogged(t, a)
	port := srv.ConsoleAddr.String()[strings.LastIndexByte(srv.ConsoleAddr.String(), ':'):]
	b := newBrowser(t, "http://localhost"+port)
	if _, err := chromedp.Call(b.ctx, webauthn.Enable, webauthn.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	_, err := chromedp.Call(
		b.ctx,
		webauthn.AddVirtualAuthenticator,
		webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
			Protocol:                    "ctap2",
			Transport:                   "internal",
			HasResidentKey:              true,
			HasUserVerification:         true,
			IsUserVerified:              true,
			AutomaticPresenceSimulation: true,
		}},
	)
	if err != nil {
		t.Fatal(err)
	}
	b.enter(a, "ana@exemplo.com.br", operator.Admin)
	b.visit("/account")
	b.fill(`form[action="/account/passkeys"]`, "name", "Notebook")
	b.do(chromedp.Click(`form[action="/account/passkeys"] button`))
	b.waitHere("Chave de acesso incluída")
	b.look("account-passkey")
	b.fill(`form[action="/account/passkeys"]`, "name", "Notebook")
	b.do(chromedp.Click(`form[action="/account/passkeys"] button`))
	b.waitHere("não concluiu a chave de acesso") // the authenticator has one, and was told so
	logOut := func() {
		b.press(`form[action="/logout"] button`)
		b.see("Você saiu do console")
	}
	logOut()
	b.do(chromedp.Click(`form[action="/login/passkey"] button`))
	b.waitHere("Visão geral")
	lines, err := a.Audit.ListEntries(context.Background(), operator.Filter{Action: "login", Limit: 1})
	if err != nil || len(lines) != 1 || lines[0].Detail != "passkey" {
		t.Error("the trail does not tell how somebody got in:", lines, err)
	}
	b.visit("/account")
	b.press(`form[action$="/remove"] button`)
	b.see("Chave de acesso removida")
	logOut()
	b.do(chromedp.Click(`form[action="/login/passkey"] button`))
	b.waitHere("não foi aceita")

	b.base = "http://127.0.0.1" + port // a number, for which no browser makes a passkey
	b.visit("/login")
	b.see("Chaves de acesso ficam ligadas a um nome")
	if to := eval[string](
		b,
		`document.querySelector("[data-by-name] a").href`,
	); to != "http://localhost"+port+"/login" {
		t.Error("the page leads to", to)
	}
}
