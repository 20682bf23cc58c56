package api

import (
	"bytes"
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/platform/telemetry"
)

// TestStrangersHaveABudget: an address that sends bad keys without end is answered late, and always that its key is
// wrong; others, a partner with a right key at the same address, and readers of the reference are not held up. What is
// logged names the caller, as far as is asked for.
func TestStrangersHaveABudget(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	var log bytes.Buffer
	h := newHandlerLogging(t, s.Env, &log)
	h.Strangers = telemetry.NewBudget(s.Clock.Now, time.Minute, 10)
	h.Callers = &telemetry.Callers{
		Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
		Shown:   telemetry.Network,
	}
	ask := func(from, path, key string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.RemoteAddr = "10.0.0.1:4711"
		r.Header.Set("X-Forwarded-For", from)
		if key != "" {
			r.Header.Set("x-api-key", key)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	for range 10 {
		if w := ask("192.0.2.7", "/v1/cyber/services", "bad"); w.Code != http.StatusForbidden {
			t.Fatal(w.Code, w.Body)
		}
	}
	timed := func(from, path, key string, want int) time.Duration {
		t.Helper()
		start := time.Now()
		if w := ask(from, path, key); w.Code != want {
			t.Errorf("%s: %d instead of %d", path, w.Code, want)
		}
		return time.Since(start)
	}
	for path, want := range map[string]int{"/v1/cyber/services": http.StatusForbidden, "/v1/subscriptions": http.StatusUnauthorized} {
		if took := timed("192.0.2.7", path, "bad", want); took < holdMost {
			t.Errorf("%s beyond the budget was answered after %v", path, took)
		}
	}
	for _, path := range []string{"/openapi.json", "/docs/"} {
		if took := timed("192.0.2.7", path, "", http.StatusOK); took >= holdMost {
			t.Errorf("%s was held for %v", path, took)
		}
	}
	if w := ask("192.0.2.7", "/v1/cyber/services", s.Live.APIKey); w.Code != http.StatusOK {
		t.Error("a right key pays for others at its address:", w.Code)
	}
	if w := ask("198.51.100.1", "/v1/cyber/services", "bad"); w.Code != http.StatusForbidden {
		t.Error("another address pays:", w.Code)
	}
	if text := log.String(); !strings.Contains(text, `"from":"192.0.2.0/24"`) || strings.Contains(text, "192.0.2.7") ||
		!strings.Contains(text, `"from":"198.51.100.0/24"`) {
		t.Error("the log does not name the caller's network, or names more:", text)
	}
}

// TestStrictTransport: over TLS every answer tells browsers to stay there, refusals too; without it none does.
func TestStrictTransport(t *testing.T) {
	h := newHandler(t, newService(t, sqldb.SQLite).Env)
	for _, path := range []string{"/v1/cyber/services", "/openapi.yaml", "/nothing"} {
		for _, over := range []*tls.ConnectionState{nil, {}} {
			r, w := httptest.NewRequest(http.MethodGet, path, nil), httptest.NewRecorder()
			r.TLS = over
			h.ServeHTTP(w, r)
			if told := w.Header().Get("Strict-Transport-Security") != ""; told != (over != nil) {
				t.Errorf("%s: %v", path, w.Header())
			}
		}
	}
}
