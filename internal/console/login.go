package console

import (
	"context"
	"html/template"
	"net/http"
	"strconv"
	"strings"

	"rsc.io/qr"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/operator"
)

// cookieName carries the prefix by which a browser refuses the cookie unless it is Secure, for this host only and for
// every path. Browsers take localhost and 127.0.0.1 as secure, so that the demo works without a certificate.
const cookieName = "__Host-vigia"

func sessionCookie(token string) *http.Cookie {
	return &http.Cookie{Name: cookieName, Value: token, Path: "/", Secure: true, HttpOnly: true, SameSite: http.SameSiteStrictMode}
}

func endCookie() *http.Cookie {
	c := sessionCookie("") //nolint:gosec // it has all three attributes: see there
	c.MaxAge = -1
	return c
}

var (
	errMismatch = fault.New(fault.Invalid, "password.mismatch")
	errTries    = fault.New(fault.RateLimited, "login.tries")
)

// loginPage is the data of the log-in form.
type loginPage struct {
	Next string
	// NoCookie says that the browser did not keep the cookie of a log-in that had succeeded.
	NoCookie bool
}

func showLogin(_ *Console, r *request) (answer, error) {
	next := r.FormValue("next")
	return view{"login", "Entrar", loginPage{Next: localPath(next), NoCookie: strings.Contains(next, "entered=1")}}, nil
}

func login(c *Console, r *request) (answer, error) {
	if !c.tries.allow(addressOf(r.Request)) {
		return nil, errTries
	}
	o, token, err := c.Rules.Operators.Login(r.Context(), r.text("email"), r.PostFormValue("password"), code(r), addressOf(r.Request))
	if err != nil {
		if o.ID != "" { // a try on a real account; the lock bounds how many there can be
			who := operator.Actor{Name: string(o.ID), From: addressOf(r.Request)}
			if aerr := c.Rules.Audit.Record(r.Context(), who, "login.refused", string(o.ID), ""); aerr != nil {
				return nil, aerr
			}
		}
		return nil, err
	}
	r.who = o
	if err := c.note(r, "login", string(o.ID), ""); err != nil {
		return nil, err
	}
	r.cookie = sessionCookie(token)
	next := localPath(r.PostFormValue("next"))
	if next == "/" {
		next = "/?entered=1"
	}
	return redirect{to: next}, nil
}

// code is the six digits, however they were typed.
func code(r *request) string { return strings.ReplaceAll(r.text("code"), " ", "") }

// linkPage is the data of the page behind a one-time link.
type linkPage struct {
	Token, Email string
	Min          int
}

func showLink(c *Console, r *request) (answer, error) {
	token := r.PathValue("token")
	o, err := c.Rules.Operators.Invited(r.Context(), token)
	if err != nil {
		return nil, err
	}
	return view{"link", "Escolha a sua senha", linkPage{token, o.Email, operator.MinPassword}}, nil
}

func useLink(c *Console, r *request) (answer, error) {
	if !c.tries.allow(addressOf(r.Request)) {
		return nil, errTries
	}
	password := r.PostFormValue("password")
	if password != r.PostFormValue("again") {
		return nil, errMismatch
	}
	o, token, err := c.Rules.Operators.Accept(r.Context(), r.PathValue("token"), password, addressOf(r.Request))
	if err != nil {
		return nil, err
	}
	r.who = o
	if err := c.note(r, "link.used", string(o.ID), ""); err != nil {
		return nil, err
	}
	r.cookie = sessionCookie(token)
	return redirect{to: "/second-factor"}, nil
}

// factorPage is the data of the page that sets the second factor up.
type factorPage struct {
	Secret string
	QR     template.HTML
	// Optional offers to go on without.
	Optional bool
}

func showSecondFactor(c *Console, r *request) (answer, error) {
	if r.who.TOTPOn {
		return redirect{to: "/"}, nil
	}
	o, err := c.Rules.Operators.BeginTOTP(r.Context(), r.who.ID)
	if err != nil {
		return nil, err
	}
	picture, err := qrPicture(o.TOTPAddress())
	if err != nil {
		return nil, err
	}
	return view{"second-factor", "Segundo fator", factorPage{groups(o.TOTPText()), picture, c.SecondFactorOptional}}, nil
}

// groups writes a secret in groups of four, as people read it.
func groups(s string) string {
	var b strings.Builder
	for i, r := range s {
		if i > 0 && i%4 == 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// qrPicture draws a QR code as one SVG path, so that the page needs neither image nor script.
func qrPicture(text string) (template.HTML, error) {
	q, err := qr.Encode(text, qr.M)
	if err != nil {
		return "", err
	}
	var path strings.Builder
	for y := range q.Size {
		for x := range q.Size {
			if q.Black(x, y) {
				path.WriteString("M" + strconv.Itoa(x+4) + " " + strconv.Itoa(y+4) + "h1v1h-1z")
			}
		}
	}
	size := strconv.Itoa(q.Size + 8)
	return template.HTML(`<svg class="qr" role="img" aria-label="Código QR para o aplicativo autenticador" viewBox="0 0 ` + size + ` ` + size + //nolint:gosec // digits only
		`" shape-rendering="crispEdges"><rect width="100%" height="100%" fill="#fff"/><path fill="#000" d="` + path.String() + `"/></svg>`), nil
}

func confirmSecondFactor(c *Console, r *request) (answer, error) {
	if !c.tries.allow(addressOf(r.Request)) {
		return nil, errTries
	}
	err := c.change(r, "account.second_factor", func(ctx context.Context, in *Rules) (string, string, error) {
		_, err := in.Operators.ConfirmTOTP(ctx, r.who.ID, code(r))
		return string(r.who.ID), "", err
	})
	if err != nil {
		return nil, err
	}
	return redirect{"/", "account.totp"}, nil
}

func logout(c *Console, r *request) (answer, error) {
	if err := c.Rules.Operators.Logout(r.Context(), r.session); err != nil {
		return nil, err
	}
	if err := c.note(r, "logout", string(r.who.ID), ""); err != nil {
		return nil, err
	}
	r.cookie = endCookie()
	return redirect{"/login", "session.ended"}, nil
}

func showProof(_ *Console, r *request) (answer, error) {
	return view{"prove", "Confirme que é você", localPath(r.FormValue("next"))}, nil
}

func prove(c *Console, r *request) (answer, error) {
	if !c.tries.allow(addressOf(r.Request)) {
		return nil, errTries
	}
	if _, err := c.Rules.Operators.Prove(r.Context(), &r.session, r.PostFormValue("password")); err != nil {
		return nil, err
	}
	return redirect{to: localPath(r.PostFormValue("next"))}, nil
}

// accountPage is the data of one's own page.
type accountPage struct {
	Sessions []operator.Session
	Current  string
	Min      int
}

func showAccount(c *Console, r *request) (answer, error) {
	sessions, err := c.Rules.Operators.Sessions(r.Context(), r.who.ID)
	if err != nil {
		return nil, err
	}
	return view{"account", "Minha conta", accountPage{sessions, string(r.session.Digest), operator.MinPassword}}, nil
}

func changePassword(c *Console, r *request) (answer, error) {
	next := r.PostFormValue("password")
	if next != r.PostFormValue("again") {
		return nil, errMismatch
	}
	if err := c.note(r, "account.password", string(r.who.ID), ""); err != nil {
		return nil, err
	}
	if err := c.Rules.Operators.ChangePassword(r.Context(), r.session, r.PostFormValue("present"), next); err != nil {
		return nil, err
	}
	return redirect{"/account", "account.password"}, nil
}

func logoutEverywhere(c *Console, r *request) (answer, error) {
	if err := c.note(r, "logout.everywhere", string(r.who.ID), ""); err != nil {
		return nil, err
	}
	if _, err := c.Rules.Operators.LogoutEverywhere(r.Context(), r.who.ID); err != nil {
		return nil, err
	}
	r.cookie = endCookie()
	return redirect{"/login", "session.ended"}, nil
}
