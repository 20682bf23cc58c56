//go:build go1.25

// The virtual time of testing/synctest is newer than what the module asks of its users.

package client_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vigiahq/vigia/client"
)

// outage is a service behind a balancer that goes away and comes back.
type outage struct {
	server *httptest.Server
	// isDown is what the balancer sees; during says what it does then.
	isDown atomic.Bool
	during func(w http.ResponseWriter)
	seen   atomic.Int64
}

// newOutage starts a server that is down. It stands outside of the test's time.
func newOutage(t *testing.T, during func(w http.ResponseWriter)) *outage {
	t.Helper()
	o := &outage{during: during}
	o.isDown.Store(true)
	o.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		o.seen.Add(1)
		if o.isDown.Load() {
			o.during(w)
			return
		}
		ok(w)
	}))
	t.Cleanup(o.server.Close)
	return o
}

// loseConnection ends a connection without an answer.
func loseConnection(w http.ResponseWriter) {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_ = connection.Close()
	}
}

// call sends one request in the time of the bubble. A connection that stays open would keep that time from passing.
func (o *outage) call(t *testing.T, attempts int) (time.Duration, error) {
	t.Helper()
	c, err := client.New(client.Config{
		URL:      o.server.URL,
		Key:      "k",
		Attempts: attempts,
		HTTP:     &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	asset := client.NewMonitoredAsset{Type: "email", Value: "a@exemplo.com.br", UserHash: "u"}
	err = c.AddMonitoredAsset(t.Context(), asset)
	return time.Since(began), err
}

// TestRestartIsWaitedOut: a service that cannot be reached for half a minute costs a caller a pause and no error; one
// that stays away is given up after that, and a caller who asked for fewer attempts gets those.
func TestRestartIsWaitedOut(t *testing.T) {
	for name, during := range map[string]func(w http.ResponseWriter){
		"connections are lost":            loseConnection,
		"503 without Retry-After":         status(503, "<html>"),
		"502 of a balancer":               status(502, "<html>"),
		"504 of a balancer":               status(504, "<html>"),
		"first lost, then a 503 for long": alternate(loseConnection, status(503, "")),
	} {
		t.Run(name, func(t *testing.T) {
			o := newOutage(t, during)
			synctest.Test(t, func(t *testing.T) {
				const down = 29 * time.Second
				time.AfterFunc(down, func() { o.isDown.Store(false) })
				took, err := o.call(t, 0)
				if err != nil || took < down || took > down+10*time.Second {
					t.Errorf("after %d attempts and %s: %v", o.seen.Load(), took, err)
				}
			})
			o.isDown.Store(true)
			synctest.Test(t, func(t *testing.T) {
				took, err := o.call(t, 0)
				if err == nil || took < 30*time.Second || took > 45*time.Second {
					t.Errorf("gave up after %s: %v", took, err)
				}
			})
			o.seen.Store(0)
			synctest.Test(t, func(t *testing.T) {
				took, err := o.call(t, 2)
				if err == nil || o.seen.Load() != 2 || took > time.Second {
					t.Errorf("two attempts: %d in %s: %v", o.seen.Load(), took, err)
				}
			})
		})
	}
}

// alternate does one thing after the other.
func alternate(first, second func(w http.ResponseWriter)) func(w http.ResponseWriter) {
	var turn atomic.Int64
	return func(w http.ResponseWriter) {
		if turn.Add(1)%2 == 1 {
			first(w)
			return
		}
		second(w)
	}
}

// TestRefusalsAfterARestart: attempts that did not reach the service do not use up those for what it refuses.
func TestRefusalsAfterARestart(t *testing.T) {
	const lost = 6
	var seen atomic.Int64
	o := newOutage(t, func(w http.ResponseWriter) {
		switch n := seen.Add(1); {
		case n <= lost:
			loseConnection(w)
		case n <= lost+3:
			status(429, `{"message":"x"}`, "retry-after", "2", "x-error-code", "rate.limited")(w)
		default:
			ok(w)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		if _, err := o.call(t, 0); err != nil || seen.Load() != lost+4 {
			t.Errorf("%d attempts: %v", seen.Load(), err)
		}
	})
}

// TestErrorsHaveTheirCode: a refusal has the code of the service; a page of another than the service has none.
func TestErrorsHaveTheirCode(t *testing.T) {
	srv, _ := answers(t, status(404, `{"message":"x"}`, "x-error-code", "asset.not_found"), status(404, "<html>"))
	c := fast(t, srv.URL, "k", nil)
	for _, code := range []client.ErrorCode{client.ErrorCodeAssetNotFound, ""} {
		_, err := c.ListMonitoredAssets(t.Context(), "u")
		var refused *client.Error
		if !errors.As(err, &refused) || refused.Code != code || !errors.Is(err, client.ErrNotFound) {
			t.Errorf("%v, not %q", err, code)
		}
	}
}

// TestReplyTellsWhatWaits: values without their first look are told.
func TestReplyTellsWhatWaits(t *testing.T) {
	srv, _ := answers(t,
		status(200, `[]`, "x-first-looks-waiting", "3", "x-first-looks-until", "2026-01-31T03:00:00.000Z"),
		status(200, `[]`),
	)
	c := fast(t, srv.URL, "k", nil)
	for _, want := range []client.Reply{
		{FirstLooksWaiting: 3, FirstLooksUntil: time.Date(2026, 1, 31, 3, 0, 0, 0, time.UTC), Attempts: 1},
		{Attempts: 1},
	} {
		var reply client.Reply
		_, err := c.ListMonitoredAssets(t.Context(), "u", client.Into(&reply))
		if err != nil || reply.FirstLooksWaiting != want.FirstLooksWaiting ||
			!reply.FirstLooksUntil.Equal(want.FirstLooksUntil) {
			t.Errorf("%+v: %v", reply, err)
		}
	}
}
