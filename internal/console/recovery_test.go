package console_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/operator"
)

// TestLostSecondFactor: whoever lost the authenticator app gets in by a recovery code, once each, or through a link from somebody
// else who administers.
func TestLostSecondFactor(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	ctx := context.Background()
	session(t, d.app, "bia@exemplo.com.br", operator.Support)
	bia, err := d.app.Operators.FindByEmail(ctx, "bia@exemplo.com.br")
	if err != nil {
		t.Fatal(err)
	}
	codes, err := d.app.Operators.RecoveryCodes(ctx, bia.ID)
	if err != nil {
		t.Fatal(err)
	}
	login := func(code string) (*http.Response, string) {
		return post(t, d.base, "/login", nil, url.Values{"email": {bia.Email}, "password": {consolePassword}, "code": {code}}, nil)
	}
	if res, page := login(strings.ToLower(codes[0])); res.StatusCode != http.StatusSeeOther {
		t.Fatal("a recovery code:", res.StatusCode, page)
	}
	d.recorded("account.recovered", string(bia.ID), "")
	if res, _ := login(codes[0]); res.StatusCode != http.StatusUnauthorized {
		t.Error("the same code again:", res.StatusCode)
	}

	_, page := d.post(200, "/operators/"+string(bia.ID)+"/reset")
	link := "/link/" + cutOut(t, page, "/link/", "<")
	if res, _ := login(codes[1]); res.StatusCode != http.StatusUnauthorized {
		t.Error("a code outlives the reset:", res.StatusCode)
	}
	next := url.Values{"password": {"outra girafa no telhado"}, "again": {"outra girafa no telhado"}}
	res, text := post(t, d.base, link, nil, next, nil)
	if res.StatusCode != http.StatusSeeOther || res.Header.Get("location") != "/second-factor" {
		t.Fatal(res.StatusCode, res.Header, text)
	}
	_, page = d.as(res.Cookies()[0]).send("/second-factor", "", nil)
	has(t, page, "Código QR", "Ativar", "-Pular")
}

// TestSecondFactorOfTheDemo: where one may go on without a second factor, the page that sets it up is the same.
func TestSecondFactorOfTheDemo(t *testing.T) {
	t.Parallel()
	a := open(t)
	srv := serve(t, a, nil, (*app.Server).RelaxSecondFactor)
	_, link, err := a.Operators.CreateOperator(context.Background(), "ana@exemplo.com.br", operator.Admin)
	if err != nil {
		t.Fatal(err)
	}
	_, token, err := a.Operators.AcceptInvitation(context.Background(), link, consolePassword, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	cookie := &http.Cookie{Name: "__Host-vigia", Value: token}
	base := "http://" + srv.ConsoleAddr.String()
	for path, want := range map[string][]string{
		"/second-factor": {`<body class="bare">`, "Código QR", "Pular nesta demonstração"}, "/account": {`id="menu"`, "Ativar agora"},
	} {
		res, page := ask(t, base, http.MethodGet, path, cookie, nil)
		if has(t, page, want...); res.StatusCode != http.StatusOK {
			t.Error(path, res.StatusCode)
		}
	}
}
