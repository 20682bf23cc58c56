package console

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/platform/telemetry"
)

// enterSession opens the session and checks role, second factor and proof. A redirect is returned where something is to
// be done first.
func (c *Console) enterSession(r *request) (answer, error) {
	if r.route.role == "" {
		return nil, nil //nolint:nilnil // nothing to do first
	}
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		return redirectToLogin(r, false), nil
	}
	r.session, r.who, err = c.Rules.Operators.ResumeSession(r.Context(), cookie.Value)
	if errors.Is(err, operator.ErrNoSession) {
		r.cookie = endCookie()
		return redirectToLogin(r, true), nil
	}
	if err != nil {
		return nil, err
	}
	if !r.who.TOTPOn && !c.SecondFactorOptional && !r.route.early {
		return redirect{to: "/second-factor"}, nil
	}
	if !r.route.isOpenTo(r.who) {
		return nil, errForbidden
	}
	if r.scope, err = c.loadScope(r); err != nil {
		return nil, err
	}
	if r.route.fresh && !r.session.IsFresh(c.Now()) {
		return redirect{to: "/prove?next=" + url.QueryEscape(r.route.proofPage(r.Request))}, nil
	}
	return nil, nil //nolint:nilnil // nothing to do first
}

// redirectToLogin sends the operator to the log-in and from there back to the requested page. The fields of a form are
// carried through the log-in, so that an expired session does not lose what was typed; uploaded files are not.
func redirectToLogin(r *request, ended bool) answer {
	if r.Method == http.MethodPost && ended && !r.route.upload {
		r.Body = http.MaxBytesReader(nil, r.Body, maxForm)
		if err := r.ParseForm(); err == nil {
			return view{"login", "Entrar", loginPage{
				Next:  r.route.proofPage(r.Request),
				Ended: true,
				Kept:  &keptForm{Path: r.URL.Path, Fields: r.PostForm},
			}}
		}
	}
	q := url.Values{}
	if r.Method == http.MethodGet && r.URL.RequestURI() != "/" {
		q.Set("next", r.URL.RequestURI())
	}
	if ended {
		q.Set("done", "session.over")
	}
	if len(q) == 0 {
		return redirect{to: "/login"}
	}
	return redirect{to: "/login?" + q.Encode()}
}

// localPath accepts only a path of this console as the place to go on to.
func localPath(p string) string {
	u, err := url.Parse(p)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(p, "/") || strings.HasPrefix(p, "//") ||
		strings.ContainsAny(p, "\\\r\n") {
		return "/"
	}
	return p
}

// cookieName carries the prefix by which a browser refuses the cookie unless it is Secure, for this host only and for
// every path. Browsers take localhost and 127.0.0.1 as secure, so that the demo works without a certificate.
const cookieName = "__Host-vigia"

// sessionCookie returns the cookie of a session.
func sessionCookie(token string) *http.Cookie { return newCookie(cookieName, token) }

// newCookie returns a cookie for this host only, over TLS, out of reach of scripts and other sites.
func newCookie(name, value string) *http.Cookie {
	return &http.Cookie{
		Name:     name,
		Value:    value,
		Path:     "/",
		Secure:   true,
		HttpOnly: true,
		SameSite: http.SameSiteStrictMode,
	}
}

// endCookie returns a cookie that removes the session from the browser.
func endCookie() *http.Cookie {
	c := sessionCookie("") //nolint:gosec // it has all three attributes: see there
	c.MaxAge = -1
	return c
}

// publicOrigin returns the origin that links to the console begin with and passkeys are bound to. It is empty when none
// is configured and the console is reachable from other machines: the Host header is not trusted, since the client
// writes it.
func (c *Console) publicOrigin(r *http.Request) string {
	if c.Public.Host != "" {
		return c.Public.Scheme + "://" + c.Public.Host
	}
	at, local := telemetry.ListenerURL(r)
	if !local {
		return ""
	}
	at.Host = "localhost:" + at.Port() // passkeys are bound to a name
	return at.String()
}
