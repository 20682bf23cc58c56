package site

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/webhook"
)

// Guard lets webhooks reach this machine.
var Guard = webhook.NewGuard([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")})

// NewEvent is an alert of the usual size about a person of its own.
func NewEvent(id partner.ID, n int) alert.Event {
	user := partner.UserHash(fmt.Sprintf("%064x", n))
	return load.Must(alert.New(id, alert.LeakDetected, user, time.Now(), alert.Leak{Findings: []alert.LeakFinding{{
		ID: "0198c0de-7a00-7000-8000-0000000000d1", Asset: "0198c0de-7a00-7000-8000-000000000001", Kind: "email",
		Status: cyber.Status("comprometido"), Breach: "loja-exemplo", Severity: cyber.Severity("high"),
	}}}))
}

// Hook gives a partner of its own an endpoint.
func (s *Service) Hook(ctx context.Context, url string) alert.Endpoint {
	p, _ := s.NewPartner(ctx)
	return load.Must(s.Webhooks.Create(ctx, p.ID, url, nil, Guard))
}

// Publish writes n events for endpoints, in turns.
func (s *Service) Publish(ctx context.Context, n int, hooks ...alert.Endpoint) {
	const batch = 50
	for done := 0; done < n; {
		for _, h := range hooks {
			var some []alert.Event
			for len(some) < min(batch, n-done) {
				some = append(some, NewEvent(h.Partner, done+len(some)))
			}
			done += len(some)
			load.Check(s.Store.Alerts.AddEvents(ctx, h.Partner, some...))
		}
	}
}

// Dispatch starts a dispatcher with that many slots for an endpoint and no rate limit.
func (s *Service) Dispatch(slots int) (stop func()) {
	rule := webhook.DefaultGate
	rule.Concurrent, rule.PerSecond = slots, 0
	client := Guard.Client(webhook.ClientOptions{})
	d := alert.NewDispatcher(s.Store.Alerts, client, time.Now, slog.New(slog.DiscardHandler), alert.DispatcherOptions{
		Gate: rule, NextTry: webhook.NewSchedule(func() float64 { return 0.5 }).Next,
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { d.Run(ctx); close(done) }()
	return func() { cancel(); <-done; client.CloseIdleConnections() }
}

// Receiver counts the arrivals of each event. Paths that begin with /dead never answer.
type Receiver struct {
	*httptest.Server
	mu   sync.Mutex
	seen map[string]int
	at   map[string]time.Time // of the first
	over chan struct{}
}

// NewReceiver starts one.
func NewReceiver() *Receiver {
	r := &Receiver{seen: map[string]int{}, at: map[string]time.Time{}, over: make(chan struct{})}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if strings.HasPrefix(q.URL.Path, "/dead") {
			select {
			case <-r.over:
			case <-q.Context().Done():
			}
			return
		}
		_, _ = io.Copy(io.Discard, q.Body)
		r.mu.Lock()
		id := q.Header.Get("webhook-id")
		if r.seen[id]++; r.seen[id] == 1 {
			r.at[id] = time.Now()
		}
		r.mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
	}))
	return r
}

// Stop ends it, with what hangs.
func (r *Receiver) Stop() {
	close(r.over)
	r.CloseClientConnections()
	r.Close()
}

// Arrived is how many events came, and how many of them more than once.
func (r *Receiver) Arrived() (once, twice int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range r.seen {
		if n > 1 {
			twice++
		}
	}
	return len(r.seen), twice
}

// First is when an event came for the first time.
func (r *Receiver) First(id string) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.at[id]
}

// Wait returns how many events have come when there are n, or when the time is over.
func (r *Receiver) Wait(n int, limit time.Duration) (got int) {
	for until := time.Now().Add(limit); time.Now().Before(until); time.Sleep(2 * time.Millisecond) {
		if got = r.count(); got >= n {
			break
		}
	}
	return got
}

func (r *Receiver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.seen)
}
