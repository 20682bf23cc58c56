package console_test

import (
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/console"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

// noFollow is a client that shows redirects instead of following them.
var noFollow = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// session makes an operator with a second factor and returns the cookie of a session.
func session(t *testing.T, a *app.App, email string, role operator.Role) *http.Cookie {
	t.Helper()
	ctx := context.Background()
	_, link, err := a.Operators.CreateOperator(ctx, email, role)
	if err != nil {
		t.Fatal(err)
	}
	o, token, err := a.Operators.AcceptInvitation(ctx, link, consolePassword, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	if o, err = a.Operators.BeginTOTP(ctx, o.ID); err == nil {
		_, err = a.Operators.ConfirmTOTP(ctx, o.ID, operator.AuthenticatorCode(o.TOTP, time.Now()))
	}
	if err != nil {
		t.Fatal(err)
	}
	return &http.Cookie{Name: "__Host-vigia", Value: token}
}

// ask sends a request to the console as a browser would, or as another site would make it.
func ask(t *testing.T, base, method, path string, cookie *http.Cookie, header http.Header) (*http.Response, string) {
	t.Helper()
	var body io.Reader
	if method == http.MethodPost {
		body = strings.NewReader(url.Values{"name": {"x"}, "reason": {"motivo"}, "hours": {"1"}, "note": {"anotação"}, "text": {"resposta"}}.Encode())
	}
	req, err := http.NewRequestWithContext(context.Background(), method, base+path, body)
	if err != nil {
		t.Fatal(err)
	}
	if body != nil {
		req.Header.Set("content-type", "application/x-www-form-urlencoded")
	}
	for k, v := range header {
		req.Header[k] = v
	}
	if cookie != nil {
		req.AddCookie(cookie)
	}
	return answered(t, req)
}

// answered sends a request and reads its answer.
func answered(t *testing.T, req *http.Request) (*http.Response, string) {
	t.Helper()
	res, err := noFollow.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(text)
}

// concrete puts something in the place of each word in braces.
func concrete(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if strings.HasPrefix(p, "{") {
			parts[i] = "x1"
		}
		if p == "{$}" {
			parts[i] = ""
		}
	}
	return strings.Join(parts, "/")
}

// TestConsoleRoles runs every route for everybody: nobody, a viewer, support and an admin.
func TestConsoleRoles(t *testing.T) {
	a := open(t)
	srv := serve(t, a, nil)
	base := "http://" + srv.ConsoleAddr.String()
	cookies := map[operator.Role]*http.Cookie{}
	for _, role := range operator.ListRoles() {
		cookies[role] = session(t, a, string(role)+"@exemplo.com.br", role)
	}
	// These would end the session that the test goes on with.
	spared := []string{"/logout", "/account/logout", "/account/password"}
	for _, p := range console.ListPages() {
		path := concrete(p.Path)
		res, _ := ask(t, base, p.Method, path, nil, nil)
		if p.Role == "" {
			if res.StatusCode == http.StatusSeeOther && strings.HasPrefix(res.Header.Get("location"), "/login") && p.Path != "/login" {
				t.Errorf("%s %s should need no session", p.Method, p.Path)
			}
			continue
		}
		if res.StatusCode != http.StatusSeeOther || !strings.HasPrefix(res.Header.Get("location"), "/login") {
			t.Errorf("%s %s without a session: %d", p.Method, p.Path, res.StatusCode)
		}
		for _, role := range operator.ListRoles() {
			if slices.Contains(spared, p.Path) || strings.HasSuffix(p.Path, "/events") {
				continue
			}
			res, _ := ask(t, base, p.Method, path, cookies[role], nil)
			refused := res.StatusCode == http.StatusForbidden
			if refused == role.Covers(p.Role) {
				t.Errorf("%s %s for %s: %d", p.Method, p.Path, role, res.StatusCode)
			}
			if strings.HasPrefix(res.Header.Get("location"), "/login") {
				t.Errorf("%s %s for %s: sent to log in", p.Method, p.Path, role)
			}
			if res.StatusCode >= http.StatusInternalServerError {
				t.Errorf("%s %s for %s: %d", p.Method, p.Path, role, res.StatusCode)
			}
		}
	}
}

// TestConsoleHeaders holds the answers of all routes against what every answer must carry.
func TestConsoleHeaders(t *testing.T) {
	a := open(t)
	srv := serve(t, a, nil)
	base := "http://" + srv.ConsoleAddr.String()
	admin := session(t, a, "ana@exemplo.com.br", operator.Admin)
	paths := []string{"/static/console.css", "/nada"}
	for _, p := range console.ListPages() {
		if p.Method == http.MethodGet {
			paths = append(paths, concrete(p.Path))
		}
	}
	for _, path := range paths {
		for _, cookie := range []*http.Cookie{nil, admin} {
			res, body := ask(t, base, http.MethodGet, path, cookie, nil)
			policy := res.Header.Get("content-security-policy")
			for _, want := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "object-src 'none'", "form-action 'self'"} {
				if !strings.Contains(policy, want) {
					t.Errorf("%s: the policy lacks %s", path, want)
				}
			}
			if strings.Contains(policy, "unsafe") || res.Header.Get("x-content-type-options") != "nosniff" || res.Header.Get("x-frame-options") != "DENY" ||
				res.Header.Get("referrer-policy") != "no-referrer" {
				t.Errorf("%s: %v", path, res.Header)
			}
			if !strings.HasPrefix(path, "/static/") && res.Header.Get("cache-control") != "no-store" {
				t.Errorf("%s may be kept by a cache", path)
			}
			for _, inline := range []string{"<script>", " style=", " onclick=", "javascript:", "<style"} {
				if strings.Contains(body, inline) {
					t.Errorf("%s holds %q", path, inline)
				}
			}
		}
	}
	res, _ := ask(t, base, http.MethodPost, "/logout", admin, nil)
	set := res.Header.Get("set-cookie")
	for _, want := range []string{"__Host-vigia=;", "Path=/", "Max-Age=0", "HttpOnly", "Secure", "SameSite=Strict"} {
		if !strings.Contains(set, want) {
			t.Errorf("the cookie %q lacks %s", set, want)
		}
	}
	if res.Header.Get("clear-site-data") != `"cache", "storage"` {
		t.Error("the browser keeps what it has:", res.Header)
	}
}

// TestConsoleOtherSites: nothing that another site makes a browser send changes anything.
func TestConsoleOtherSites(t *testing.T) {
	a := open(t)
	srv := serve(t, a, nil)
	base := "http://" + srv.ConsoleAddr.String()
	admin := session(t, a, "ana@exemplo.com.br", operator.Admin)
	ctx := context.Background()
	before, err := a.Store.Audit.TrailHead(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, header := range []http.Header{
		{"Sec-Fetch-Site": {"cross-site"}}, {"Sec-Fetch-Site": {"same-site"}}, {"Origin": {"https://mal.example"}}, {"Origin": {"null"}},
		{"Sec-Fetch-Site": {"cross-site"}, "Origin": {base}},
	} {
		for _, p := range console.ListPages() {
			if p.Method != http.MethodPost {
				continue
			}
			if res, _ := ask(t, base, p.Method, concrete(p.Path), admin, header); res.StatusCode != http.StatusForbidden {
				t.Errorf("%s with %v: %d", p.Path, header, res.StatusCode)
			}
		}
	}
	// Every change and every log-out leaves a line, so a trail that did not grow means that nothing happened.
	if after, err := a.Store.Audit.TrailHead(ctx); err != nil || after.Seq != before.Seq {
		t.Errorf("%d lines before, %d after, %v", before.Seq, after.Seq, err)
	}
	if res, _ := ask(t, base, http.MethodGet, "/", admin, nil); res.StatusCode != http.StatusOK {
		t.Error("the session ended:", res.StatusCode)
	}
}

// TestConsoleFresh: after a while a page that shows a secret asks for the password first, and then leads back.
func TestConsoleFresh(t *testing.T) {
	a := open(t)
	srv := serve(t, a, nil)
	base := "http://" + srv.ConsoleAddr.String()
	admin := session(t, a, "ana@exemplo.com.br", operator.Admin)
	s, _, err := a.Operators.ResumeSession(context.Background(), admin.Value)
	if err != nil {
		t.Fatal(err)
	}
	s.ProvedAt = time.Now().Add(-operator.ProofLimit)
	if err := a.Store.Operators.UpdateSession(context.Background(), s); err != nil {
		t.Fatal(err)
	}
	for _, p := range console.ListPages() {
		if strings.HasSuffix(p.Path, "logout") || strings.HasSuffix(p.Path, "/events") {
			continue // would end the session, or never end
		}
		res, _ := ask(t, base, p.Method, concrete(p.Path), admin, nil)
		asked := strings.HasPrefix(res.Header.Get("location"), "/prove?next=")
		if asked != p.Fresh && p.Path != "/prove" {
			t.Errorf("%s %s: asked for the password: %t", p.Method, p.Path, asked)
		}
	}
	admin = session(t, a, "bia@exemplo.com.br", operator.Admin)
	if res, _ := ask(t, base, http.MethodGet, "/partners/new", admin, nil); res.StatusCode != http.StatusOK {
		t.Error("a fresh session is asked again:", res.StatusCode)
	}
	form := url.Values{"next": {"https://mal.example/"}, "password": {consolePassword}}
	req := httptest.NewRequest(http.MethodPost, base+"/prove", strings.NewReader(form.Encode()))
	req.RequestURI = ""
	req.Header.Set("content-type", "application/x-www-form-urlencoded")
	req.AddCookie(admin)
	res, err := noFollow.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if to := res.Header.Get("location"); to != "/" {
		t.Error("a form leads out of the console:", to)
	}
}

// TestConsoleCookie: only the whole reference opens a session, and the database holds none that would.
func TestConsoleCookie(t *testing.T) {
	a := open(t)
	srv := serve(t, a, nil)
	base := "http://" + srv.ConsoleAddr.String()
	admin := session(t, a, "ana@exemplo.com.br", operator.Admin)
	s, _, err := a.Operators.ResumeSession(context.Background(), admin.Value)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"nothing": "", "cut": admin.Value[1:], "the digest": base64.RawURLEncoding.EncodeToString(s.Digest), "another": strings.Repeat("A", 43),
	} {
		if res, _ := ask(t, base, http.MethodGet, "/partners", &http.Cookie{Name: "__Host-vigia", Value: value}, nil); res.StatusCode != http.StatusSeeOther {
			t.Errorf("%s opens a session: %d", name, res.StatusCode)
		}
	}
}

// TestFormSurvivesAnEndedSession: what was typed when the session was over goes through the log-in, and is sent when its owner
// says so.
func TestFormSurvivesAnEndedSession(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	p, user := d.customer()
	c, err := d.app.Cases.OpenCase(context.Background(), p.ID, cyber.CaseRequest{Service: phishing, User: partner.UserHash(user)})
	if err != nil {
		t.Fatal(err)
	}
	path := "/cases/" + string(c.ID) + "/write"
	d.post(303, "/account/logout")
	const text = "não quero escrever isto de novo"
	_, page := d.post(200, path, "kind", "reply", "text", text)
	has(t, page, "A sua sessão terminou", text, `name="kept.text"`)
	if _, moves, err := d.app.Cases.ShowCase(context.Background(), c.ID); err != nil || len(moves) != 1 {
		t.Fatal("something was written without a session:", moves, err)
	}
	ana, err := d.app.Operators.FindByEmail(context.Background(), "ana@exemplo.com.br")
	if err != nil {
		t.Fatal(err)
	}
	res, page := d.post(200, "/login", "email", ana.Email, "password", consolePassword, "code", operator.AuthenticatorCode(ana.TOTP, time.Now().Add(30*time.Second)),
		"next", "/cases/"+string(c.ID), "kept_path", path, "kept.kind", "reply", "kept.text", text)
	has(t, page, "Enviar agora", `action="`+path+`"`, text)
	for _, cookie := range res.Cookies() {
		d.cookie = cookie
	}
	d.post(303, path, "kind", "reply", "text", text)
	if _, page = d.send("/nada", "", nil); strings.Contains(page, text) {
		t.Error("what was kept is still shown")
	}
}
