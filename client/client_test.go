package client_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/client"
)

// fast is a client that does not wait between attempts, and remembers how long it would have.
func fast(t *testing.T, address, key string, waits *[]time.Duration) *client.Client {
	t.Helper()
	c, err := client.New(client.Config{URL: address, Key: key, Sleep: func(ctx context.Context, d time.Duration) error {
		if waits != nil {
			*waits = append(*waits, d)
		}
		return ctx.Err()
	}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// answers is a stand-in that gives one answer after the other; the last one stays.
func answers(t *testing.T, list ...func(w http.ResponseWriter)) (*httptest.Server, *[]*http.Request) {
	t.Helper()
	var seen []*http.Request
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r)
		list[min(len(seen), len(list))-1](w)
	}))
	t.Cleanup(srv.Close)
	return srv, &seen
}

func status(code int, body string, header ...string) func(w http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
	}
}

var ok = status(200, `{"status":200,"description":"Dados adicionados com sucesso."}`)

func TestAttemptsShareTheirKey(t *testing.T) {
	srv, seen := answers(t, status(503, "", "retry-after", "7"), status(429, "", "retry-after", "2"), ok)
	var waits []time.Duration
	if err := fast(t, srv.URL, "k", &waits).AddMonitoredAsset(t.Context(), client.NewMonitoredAsset{Type: "email", Value: "a@exemplo.com.br", UserHash: "u"}); err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	for _, r := range *seen {
		keys[r.Header.Get("idempotency-key")] = true
	}
	if len(*seen) != 3 || len(keys) != 1 || keys[""] {
		t.Errorf("%d attempts, keys %v", len(*seen), keys)
	}
	if len(waits) != 2 || waits[0] != 7*time.Second || waits[1] != 2*time.Second {
		t.Errorf("Retry-After is not kept: %v", waits)
	}
	if err := fast(t, srv.URL, "k", nil).AddMonitoredAsset(t.Context(), client.NewMonitoredAsset{Type: "email", Value: "a@exemplo.com.br", UserHash: "u"}); err != nil {
		t.Fatal(err)
	}
	if keys[(*seen)[3].Header.Get("idempotency-key")] {
		t.Error("two calls share a key")
	}
}

func TestWhatIsNotRepeated(t *testing.T) {
	for name, answer := range map[string]func(w http.ResponseWriter){
		"400":                  status(400, `{"message":"x"}`),
		"403":                  status(403, `{"message":"x"}`),
		"404":                  status(404, `{"message":"x"}`),
		"device limit":         status(409, `{"message":"x"}`),
		"422":                  status(422, `{"message":"x"}`),
		"redirect":             status(307, "", "location", "https://example.com/"),
		"answer of a stranger": status(200, `<html>`),
	} {
		srv, seen := answers(t, answer)
		err := fast(t, srv.URL, "k", nil).AddMonitoredAsset(t.Context(), client.NewMonitoredAsset{Type: "email", Value: "a@exemplo.com.br", UserHash: "u"})
		if err == nil || len(*seen) != 1 {
			t.Errorf("%s: %d attempts, %v", name, len(*seen), err)
		}
	}
	srv, seen := answers(t, status(500, `{"message":"Erro de Aplicação"}`))
	if err := fast(t, srv.URL, "k", nil).AddMonitoredAsset(t.Context(), client.NewMonitoredAsset{Type: "email", Value: "x", UserHash: "u"}); !errors.Is(err, client.ErrUnavailable) || len(*seen) != 4 {
		t.Errorf("%d attempts, %v", len(*seen), err)
	}
	srv, seen = answers(t, status(503, ""), status(409, `{"message":"x"}`, "x-created-id", "key_1"))
	_, err := fast(t, srv.URL, "k", nil).CreateKey(t.Context(), client.NewKey{Scopes: []string{"cyber:read"}})
	var refused *client.Error
	if !errors.As(err, &refused) || refused.CreatedID != "key_1" || len(*seen) != 2 {
		t.Errorf("made by an attempt whose answer was lost: %d attempts, %v", len(*seen), err)
	}
	srv, seen = answers(t, status(409, `{"message":"x"}`, "retry-after", "1"), ok)
	if err := fast(t, srv.URL, "k", nil).AddMonitoredAsset(t.Context(), client.NewMonitoredAsset{Type: "email", Value: "x", UserHash: "u"}); err != nil || len(*seen) != 2 {
		t.Errorf("still running: %d attempts, %v", len(*seen), err)
	}
}

// TestLongWaitsAreTheCallers: the longest wait that a call makes by itself is a minute.
func TestLongWaitsAreTheCallers(t *testing.T) {
	for seconds, attempts := range map[string]int{"60": 4, "61": 1, "3180": 1} {
		srv, seen := answers(t, status(429, `{"message":"x"}`, "retry-after", seconds))
		var waits []time.Duration
		_, err := fast(t, srv.URL, "k", &waits).ListSupportServices(t.Context())
		var refused *client.Error
		if !errors.As(err, &refused) || len(*seen) != attempts || len(waits) != attempts-1 ||
			refused.RetryAfter.String() == "0s" {
			t.Errorf("Retry-After %s: %d attempts, waits %v, %v", seconds, len(*seen), waits, err)
		}
	}
}

func TestContextEndsTheCall(t *testing.T) {
	// A starved machine may need longer for the first answer than the call has: then it gets more.
	for limit := 50 * time.Millisecond; ; limit *= 5 {
		srv, seen := answers(t, status(503, "", "retry-after", "60"))
		c, err := client.New(client.Config{URL: srv.URL, Key: "k"}) // really sleeps
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		err = c.AddMonitoredAsset(ctx, client.NewMonitoredAsset{Type: "email", Value: "x", UserHash: "u"})
		cancel()
		srv.Close() // waits for an answer that came too late, which is counted too
		if !errors.Is(err, context.DeadlineExceeded) || len(*seen) > 1 || limit > time.Minute {
			t.Fatalf("%d attempts, %v", len(*seen), err)
		}
		if errors.Is(err, client.ErrUnavailable) && len(*seen) == 1 {
			return
		}
	}
}

func TestNoPersonInErrorsOrAddresses(t *testing.T) {
	c := fast(t, "http://127.0.0.1:1", "k", nil) // nobody listens there
	_, err := c.SubscriptionByPlanAndCPF(t.Context(), "plano", "52998224725")
	if err == nil || strings.Contains(err.Error(), "52998224725") {
		t.Error(err)
	}
	srv, seen := answers(t, status(200, `{"protectedDevices":[]}`), status(200, `[]`))
	c = fast(t, srv.URL, "k", nil)
	if _, err := c.ListProtectedDevices(
		t.Context(),
		client.WithUserHash("hash"),
	); err != nil || (*seen)[0].Header.Get("x-user-hash") != "hash" ||
		(*seen)[0].URL.RawQuery != "" {
		t.Error(err, (*seen)[0].URL)
	}
	if _, err := c.ListMonitoredAssets(
		t.Context(),
		"a/b+c=?",
	); err != nil ||
		(*seen)[1].URL.EscapedPath() != "/v1/cyber/monitoring/a%2Fb+c=%3F" {
		t.Error(err, (*seen)[1].URL.EscapedPath())
	}
}

func TestPasswordsAreNotKept(t *testing.T) {
	srv, seen := answers(t, status(200, `{"exposed":true,"recommendations":[]}`))
	if e, err := fast(t, srv.URL, "k", nil).CheckPassword(t.Context(), "password"); err != nil || !e.Exposed {
		t.Fatal(e, err)
	}
	if key := (*seen)[0].Header.Get("idempotency-key"); key != "" {
		t.Error("an answer about a password would be kept under", key)
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []client.Config{
		{},
		{URL: "vigia.example", Key: "k"},
		{URL: "https://vigia.example"},
		{URL: "https://vigia.example?x", Key: "k"},
		{URL: "https://vigia.example", Key: "k\n"},
		{URL: "https://vigia.example", Key: "k", Attempts: -1},
	} {
		if _, err := client.New(c); err == nil {
			t.Errorf("accepted %+v", c)
		}
	}
	own := &http.Client{Timeout: time.Second}
	if _, err := client.New(
		client.Config{URL: "https://vigia.example", Key: "k", HTTP: own},
	); err != nil ||
		own.CheckRedirect != nil {
		t.Error("the caller's own client was changed", err)
	}
}
