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
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/web/console"
)

// noFollow is a client that shows redirects instead of following them.
var noFollow = &http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

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
		body = strings.NewReader(
			url.Values{
				"name":   {"x"},
				"reason": {"motivo"},
				"hours":  {"1"},
				"note":   {"anotação"},
				"text":   {"resposta"},
			}.Encode(),
		)
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
			if res.StatusCode == http.StatusSeeOther && strings.HasPrefix(res.Header.Get("location"), "/login") &&
				p.Path != "/login" {
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
			for _, want := range []string{
				"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'",
				"object-src 'none'", "form-action 'self'",
			} {
				if !strings.Contains(policy, want) {
					t.Errorf("%s: the policy lacks %s", path, want)
				}
			}
			if strings.Contains(policy, "unsafe") || res.Header.Get("x-content-type-options") != "nosniff" ||
				res.Header.Get("x-frame-options") != "DENY" ||
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
		{"Sec-Fetch-Site": {"cross-site"}},
		{"Sec-Fetch-Site": {"same-site"}},
		{"Origin": {"https://mal.example"}},
		{"Origin": {"null"}},
		{"Sec-Fetch-Site": {"cross-site"}, "Origin": {base}},
	} {
		for _, p := range console.ListPages() {
			if p.Method != http.MethodPost {
				continue
			}
			if res, _ := ask(
				t,
				base,
				p.Method,
				concrete(p.Path),
				admin,
				header,
			); res.StatusCode != http.StatusForbidden {
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
		"nothing": "", "cut": admin.Value[1:], "the digest": base64.RawURLEncoding.EncodeToString(s.Digest),
		"another": strings.Repeat("A", 43),
	} {
		if res, _ := ask(
			t,
			base,
			http.MethodGet,
			"/partners",
			&http.Cookie{Name: "__Host-vigia", Value: value},
			nil,
		); res.StatusCode != http.StatusSeeOther {
			t.Errorf("%s opens a session: %d", name, res.StatusCode)
		}
	}
}

// TestFormSurvivesAnEndedSession: what was typed when the session was over goes through the log-in, and is sent when
// its owner says so.
func TestFormSurvivesAnEndedSession(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	p, user := d.customer()
	c, err := d.app.Cases.OpenCase(
		context.Background(),
		p.ID,
		cyber.CaseRequest{Service: phishing, User: partner.UserHash(user)},
	)
	if err != nil {
		t.Fatal(err)
	}
	path := "/cases/" + string(c.ID) + "/write"
	d.post(303, "/account/logout")
	const text = "não quero escrever isto de novo"
	_, page := d.post(200, path, "kind", "reply", "text", text)
	has(t, page, "A sua sessão terminou", text, `name="kept.text"`)
	if _, moves, err := d.app.Cases.GetCase(context.Background(), c.ID); err != nil || len(moves) != 1 {
		t.Fatal("something was written without a session:", moves, err)
	}
	ana, err := d.app.Operators.FindByEmail(context.Background(), "ana@exemplo.com.br")
	if err != nil {
		t.Fatal(err)
	}
	res, page := d.post(
		200,
		"/login",
		"email",
		ana.Email,
		"password",
		consolePassword,
		"code",
		operator.AuthenticatorCode(ana.TOTP, time.Now().Add(30*time.Second)),
		"next",
		"/cases/"+string(c.ID),
		"kept_path",
		path,
		"kept.kind",
		"reply",
		"kept.text",
		text,
	)
	has(t, page, "Enviar agora", `action="`+path+`"`, text)
	for _, cookie := range res.Cookies() {
		d.cookie = cookie
	}
	d.post(303, path, "kind", "reply", "text", text)
	if _, page = d.send("/nada", "", nil); strings.Contains(page, text) {
		t.Error("what was kept is still shown")
	}
}

// post sends a form and returns the answer's head and text.
func post(
	t *testing.T,
	base, path string,
	cookie *http.Cookie,
	form url.Values,
	header http.Header,
) (*http.Response, string) {
	t.Helper()
	req := httptest.NewRequest(http.MethodPost, base+path, strings.NewReader(form.Encode()))
	req.RequestURI = ""
	for name, values := range header {
		req.Header[name] = values
	}
	req.Header.Set("content-type", "application/x-www-form-urlencoded")
	if cookie != nil {
		req.AddCookie(cookie)
	}
	return answered(t, req)
}

// TestConsoleDoor: behind a proxy that speaks TLS browsers are held to https and links begin with it; the trail names
// the caller that a trusted proxy tells of; tries on a locked account leave no line; what changed of one's own access
// is told until it was read.
func TestConsoleDoor(t *testing.T) {
	a := open(t)
	srv := serve(t, a, func(c *config.Serve) {
		c.PublicURL, c.TrustedProxies = "https://console.exemplo.com.br", []string{"127.0.0.0/8"}
	})
	ctx, base := context.Background(), "http://"+srv.ConsoleAddr.String()
	admin := session(t, a, "ana@exemplo.com.br", operator.Admin)
	res, _ := post(
		t,
		base,
		"/operators/new",
		admin,
		url.Values{"email": {"bia@exemplo.com.br"}, "role": {"viewer"}},
		nil,
	)
	_, body := openSecrets(t, base, admin, res.Cookies())
	if !strings.Contains(body, "https://console.exemplo.com.br/link/") ||
		!strings.HasPrefix(res.Header.Get("strict-transport-security"), "max-age=") {
		t.Error("the proxy's TLS is not known:", res.Header, body)
	}
	wrong := url.Values{"email": {"ana@exemplo.com.br"}, "password": {"errada errada errada"}}
	through := http.Header{"X-Forwarded-For": {"203.0.113.9, 198.51.100.7"}}
	start := time.Now()
	for i := range 7 {
		if i == 5 { // the fifth has locked the account for two seconds, which a starved machine may sleep through
			lockLonger(t, a, "ana@exemplo.com.br", start.Add(2*time.Second))
		}
		if res, _ := post(t, base, "/login", nil, wrong, through); res.StatusCode != http.StatusUnauthorized {
			t.Error(res.StatusCode)
		}
	}
	lines, err := a.Audit.ListEntries(ctx, operator.Filter{Action: "login.refused", Limit: 20})
	if err != nil || len(lines) != 5 {
		t.Errorf("%d lines of refused tries, %v: those that met a lock grow the trail", len(lines), err)
	}
	for _, l := range lines {
		if l.From != "198.51.100.7" {
			t.Error("the trail has the address of the proxy:", l.From)
		}
	}
	who, err := a.Operators.FindByEmail(ctx, "ana@exemplo.com.br")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Audit.RecordAction(
		ctx,
		operator.Actor{Name: "cli:root", From: "servidor"},
		"operator.role",
		string(who.ID),
		"admin",
	); err != nil {
		t.Fatal(err)
	}
	if _, body := ask(
		t,
		base,
		http.MethodGet,
		"/",
		admin,
		nil,
	); !strings.Contains(body, "Seu papel foi mudado") ||
		!strings.Contains(body, "servidor") {
		t.Error("a change of one's own access is not told")
	}
	if res, _ := post(t, base, "/account/noticed", admin, nil, nil); res.StatusCode != http.StatusSeeOther {
		t.Error(res.StatusCode)
	}
	if _, body := ask(t, base, http.MethodGet, "/", admin, nil); strings.Contains(body, "Seu papel foi mudado") {
		t.Error("what was read is told again")
	}
}

// lockLonger lets the lock of an account, which must be there and last until a time, last for an hour.
func lockLonger(t *testing.T, a *app.App, email string, until time.Time) {
	t.Helper()
	who, err := a.Operators.FindByEmail(context.Background(), email)
	if err != nil || who.LockedUntil.Before(until) {
		t.Fatal("not locked:", who.LockedUntil, err)
	}
	longer := func(o *operator.Operator, _ []operator.Operator) error {
		o.LockedUntil = time.Now().Add(time.Hour)
		return nil
	}
	if _, err := a.Store.Operators.UpdateOperator(
		context.Background(),
		who.ID,
		operator.KeepSessions,
		longer,
	); err != nil {
		t.Fatal(err)
	}
}

// TestConsoleTokenAfterProof: the cookie from before the password was given again opens nothing any more.
func TestConsoleTokenAfterProof(t *testing.T) {
	a := open(t)
	srv := serve(t, a, nil)
	base := "http://" + srv.ConsoleAddr.String()
	before := session(t, a, "ana@exemplo.com.br", operator.Admin)
	res, _ := post(t, base, "/prove", before, url.Values{"password": {consolePassword}}, nil)
	after := res.Cookies()
	if len(after) != 1 || after[0].Value == before.Value {
		t.Fatal("the token stayed:", res.Header)
	}
	if res, _ := ask(t, base, http.MethodGet, "/partners", before, nil); res.StatusCode != http.StatusSeeOther {
		t.Error("the token from before the proof still works:", res.StatusCode)
	}
	if res, _ := ask(t, base, http.MethodGet, "/partners/new", after[0], nil); res.StatusCode != http.StatusOK {
		t.Error("the new one does not:", res.StatusCode)
	}
}

// TestConsoleStrangers: who has no session can ask so much and no more, and who has one is not held up.
func TestConsoleStrangers(t *testing.T) {
	a := open(t)
	srv := serve(t, a, func(c *config.Serve) { c.StrangerRate = 60 })
	base := "http://" + srv.ConsoleAddr.String()
	admin := session(t, a, "ana@exemplo.com.br", operator.Admin)
	refused := 0
	for start := time.Now(); refused == 0 && time.Since(start) < time.Minute; {
		if res, _ := ask(t, base, http.MethodGet, "/login", nil, nil); res.StatusCode == http.StatusTooManyRequests {
			refused++
		}
	}
	if res, _ := ask(t, base, http.MethodGet, "/account", admin, nil); refused == 0 || res.StatusCode != http.StatusOK {
		t.Errorf("%d refused; with a session %d", refused, res.StatusCode)
	}
}

// TestConsoleUploads: a file beyond the limit is refused, whether it says how large it is or not, and nothing of it
// stays.
func TestConsoleUploads(t *testing.T) {
	a := open(t)
	srv := serve(t, a, func(c *config.Serve) { c.UploadLimit = 1 })
	base := "http://" + srv.ConsoleAddr.String()
	admin := session(t, a, "ana@exemplo.com.br", operator.Admin)
	for name, size := range map[string]int{"fits": 1 << 10, "too large": 3 << 20} {
		for _, told := range []bool{true, false} {
			const tail = "\r\n--x--\r\n"
			head := "--x\r\nContent-Disposition: form-data; name=\"system\"\r\n\r\nandroid\r\n" +
				"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\n"
			for _, path := range []string{
				"/passwords/upload", "/breaches/upload", "/devices/pools/android/load", "/subscriptions/import",
			} {
				if !told && path != "/devices/pools/android/load" {
					continue // refused for a field before the file is read
				}
				body := io.MultiReader(
					strings.NewReader(head),
					io.LimitReader(zeros{}, int64(size)),
					strings.NewReader(tail),
				)
				req := httptest.NewRequest(http.MethodPost, base+path, body)
				if req.RequestURI, req.ContentLength = "", -1; told {
					req.ContentLength = int64(len(head) + size + len(tail))
				}
				req.Header.Set("content-type", "multipart/form-data; boundary=x")
				req.AddCookie(admin)
				res, text := answered(t, req)
				if large := res.StatusCode == http.StatusRequestEntityTooLarge; large != (size > 2<<20) ||
					large && !strings.Contains(text, "1 MiB") {
					t.Errorf("%s to %s, length told %t: %d", name, path, told, res.StatusCode)
				}
			}
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestConsoleIgnoresTheHost: one-time links and passkeys are bound to the console's own address, whatever Host a
// request names.
func TestConsoleIgnoresTheHost(t *testing.T) {
	for public, want := range map[string]string{
		"": "localhost", "https://console.exemplo.com.br": "console.exemplo.com.br",
	} {
		a := open(t)
		srv := serve(t, a, func(c *config.Serve) { c.PublicURL = public })
		cookie := session(t, a, "ana@exemplo.com.br", operator.Admin)
		ask := func(path, form string) string {
			t.Helper()
			req, err := http.NewRequestWithContext(
				t.Context(),
				http.MethodPost,
				"http://"+srv.ConsoleAddr.String()+path,
				strings.NewReader(form),
			)
			if err != nil {
				t.Fatal(err)
			}
			req.Host = "golpe.example"
			req.Header.Set("content-type", "application/x-www-form-urlencoded")
			req.AddCookie(cookie)
			res, err := noFollow.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = res.Body.Close() }()
			if res.Header.Get("location") == "/secret" {
				_, page := openSecrets(t, "http://"+srv.ConsoleAddr.String(), cookie, res.Cookies())
				return page
			}
			text, err := io.ReadAll(res.Body)
			if err != nil || res.StatusCode != http.StatusOK {
				t.Fatal(path, res.StatusCode, err)
			}
			return string(text)
		}
		if text := ask("/login/passkey/begin", ""); !strings.Contains(text, `"rpId":"`+want+`"`) {
			t.Errorf("passkeys with --public-url %q: %s", public, text)
		}
		if text := ask(
			"/operators/new",
			"email=bia@exemplo.com.br&role=viewer",
		); !strings.Contains(text, "://"+want) ||
			strings.Contains(text, "golpe.example") {
			t.Errorf("links with --public-url %q: %s", public, text)
		}
	}
}

// TestLostSecondFactor: whoever lost the authenticator app gets in by a recovery code, once each, or through a link
// from somebody else who administers.
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
		return post(
			t,
			d.base,
			"/login",
			nil,
			url.Values{"email": {bia.Email}, "password": {consolePassword}, "code": {code}},
			nil,
		)
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
		"/second-factor": {`<body class="bare">`, "Código QR", "Pular nesta demonstração"},
		"/account":       {`id="menu"`, "Ativar agora"},
	} {
		res, page := ask(t, base, http.MethodGet, path, cookie, nil)
		if has(t, page, want...); res.StatusCode != http.StatusOK {
			t.Error(path, res.StatusCode)
		}
	}
}

// TestRecoveryCodesAreShownOnce: behind the page neither a reload nor the cookies of before show the codes, and the
// session goes on.
func TestRecoveryCodesAreShownOnce(t *testing.T) {
	d := newAdmin(t)
	const label = "Códigos de recuperação"
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.base+"/account/recovery", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("content-type", "application/x-www-form-urlencoded")
	req.AddCookie(d.cookie)
	made, err := noFollow.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = made.Body.Close()
	before := d.cookie
	shown, page := openSecrets(t, d.base, before, made.Cookies())
	if d.takeSession(shown); !strings.Contains(page, label) || d.cookie == before {
		t.Fatal("the codes are not shown:", page)
	}
	for name, session := range map[string]*http.Cookie{"the session of before": before, "the session": d.cookie} {
		if _, again := openSecrets(t, d.base, session, made.Cookies()); strings.Contains(again, label) {
			t.Errorf("%s shows the codes again", name)
		}
	}
	for _, c := range shown.Cookies() {
		if c.Name == "__Host-vigia-secret" && c.MaxAge >= 0 {
			t.Error("the browser keeps the codes")
		}
	}
	if _, page := d.send("/account", "", nil); !strings.Contains(page, "Minha conta") {
		t.Error("the session ended:", page)
	}
}
