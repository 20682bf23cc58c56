package console_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/operator"
)

// post sends a form and returns the answer's head and text.
func post(t *testing.T, base, path string, cookie *http.Cookie, form url.Values, header http.Header) (*http.Response, string) {
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
// the caller that a trusted proxy tells of; tries on a locked account leave no line; what changed of one's own access is
// told until it was read.
func TestConsoleDoor(t *testing.T) {
	a := open(t)
	srv := serve(t, a, func(c *config.Serve) {
		c.PublicURL, c.TrustedProxies = "https://console.exemplo.com.br", []string{"127.0.0.0/8"}
	})
	ctx, base := context.Background(), "http://"+srv.ConsoleAddr.String()
	admin := session(t, a, "ana@exemplo.com.br", operator.Admin)
	res, _ := post(t, base, "/operators/new", admin, url.Values{"email": {"bia@exemplo.com.br"}, "role": {"viewer"}}, nil)
	_, body := openSecrets(t, base, admin, res.Cookies())
	if !strings.Contains(body, "https://console.exemplo.com.br/link/") || !strings.HasPrefix(res.Header.Get("strict-transport-security"), "max-age=") {
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
	if err := a.Audit.RecordAction(ctx, operator.Actor{Name: "cli:root", From: "servidor"}, "operator.role", string(who.ID), "admin"); err != nil {
		t.Fatal(err)
	}
	if _, body := ask(t, base, http.MethodGet, "/", admin, nil); !strings.Contains(body, "Seu papel foi mudado") || !strings.Contains(body, "servidor") {
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
	if _, err := a.Store.Operators.UpdateOperator(context.Background(), who.ID, operator.KeepSessions, longer); err != nil {
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

// TestConsoleUploads: a file beyond the limit is refused, whether it says how large it is or not, and nothing of it stays.
func TestConsoleUploads(t *testing.T) {
	a := open(t)
	srv := serve(t, a, func(c *config.Serve) { c.UploadLimit = 1 })
	base := "http://" + srv.ConsoleAddr.String()
	admin := session(t, a, "ana@exemplo.com.br", operator.Admin)
	for name, size := range map[string]int{"fits": 1 << 10, "too large": 3 << 20} {
		for _, told := range []bool{true, false} {
			const tail = "\r\n--x--\r\n"
			head := "--x\r\nContent-Disposition: form-data; name=\"system\"\r\n\r\nandroid\r\n--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\n"
			for _, path := range []string{"/passwords/upload", "/breaches/upload", "/devices/pools/android/load", "/subscriptions/import"} {
				if !told && path != "/devices/pools/android/load" {
					continue // refused for a field before the file is read
				}
				body := io.MultiReader(strings.NewReader(head), io.LimitReader(zeros{}, int64(size)), strings.NewReader(tail))
				req := httptest.NewRequest(http.MethodPost, base+path, body)
				if req.RequestURI, req.ContentLength = "", -1; told {
					req.ContentLength = int64(len(head) + size + len(tail))
				}
				req.Header.Set("content-type", "multipart/form-data; boundary=x")
				req.AddCookie(admin)
				res, text := answered(t, req)
				if large := res.StatusCode == http.StatusRequestEntityTooLarge; large != (size > 2<<20) || large && !strings.Contains(text, "1 MiB") {
					t.Errorf("%s to %s, length told %t: %d", name, path, told, res.StatusCode)
				}
			}
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestConsoleIgnoresTheHost: one-time links and passkeys are bound to the console's own address, whatever Host a request
// names.
func TestConsoleIgnoresTheHost(t *testing.T) {
	for public, want := range map[string]string{"": "localhost", "https://console.exemplo.com.br": "console.exemplo.com.br"} {
		a := open(t)
		srv := serve(t, a, func(c *config.Serve) { c.PublicURL = public })
		cookie := session(t, a, "ana@exemplo.com.br", operator.Admin)
		ask := func(path, form string) string {
			t.Helper()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+srv.ConsoleAddr.String()+path, strings.NewReader(form))
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
		if text := ask("/operators/new", "email=bia@exemplo.com.br&role=viewer"); !strings.Contains(text, "://"+want) || strings.Contains(text, "golpe.example") {
			t.Errorf("links with --public-url %q: %s", public, text)
		}
	}
}
