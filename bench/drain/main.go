// Command drain measures how a backlog is delivered once its endpoint answers again: the time to the first delivery, the
// rate, and what it does to the deliveries of a healthy endpoint beside it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/webhook"
)

var backlog = flag.Int("backlog", 20_000, "deliveries that wait when the endpoint is back")

func main() {
	load.Main("rounds=1", load.Part{Name: "drain", Run: func(ctx context.Context) {
		load.Each(func(engine string) { load.Scope(func() { measure(ctx, engine) }) })
	}})
}

// receiver answers 503 under /revived while it is down, and notes when each event first arrived.
type receiver struct {
	*httptest.Server
	down  atomic.Bool
	mu    sync.Mutex
	seen  map[string]time.Time
	first time.Time // of those to /revived
	count int
}

func newReceiver() *receiver {
	r := &receiver{seen: map[string]time.Time{}}
	r.down.Store(true)
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		_, _ = io.Copy(io.Discard, q.Body)
		if q.URL.Path == "/revived" && r.down.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if q.URL.Path == "/revived" {
			if r.count++; r.count == 1 {
				r.first = time.Now()
			}
		} else if _, again := r.seen[q.Header.Get("webhook-id")]; !again {
			r.seen[q.Header.Get("webhook-id")] = time.Now()
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	load.Defer(func() { r.CloseClientConnections(); r.Close() })
	return r
}

func (r *receiver) arrived() (int, time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.count, r.first
}

func measure(ctx context.Context, engine string) {
	s, r := site.New(ctx, engine), newReceiver()
	guard := webhook.NewGuard([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")})
	hook := func(path string) alert.Endpoint {
		p, _ := s.NewPartner(ctx, site.NoLimits)
		return load.Must(s.Webhooks.CreateEndpoint(ctx, p.ID, r.URL+path, nil, guard))
	}
	revived, healthy := hook("/revived"), hook("/healthy")
	for done := 0; done < *backlog; done += 100 {
		events := make([]alert.Event, 100)
		for i := range events {
			events[i] = newEvent(revived.Partner, done+i)
		}
		load.Check(s.Store.Alerts.AddEvents(ctx, revived.Partner, events...))
	}
	s.Listen(ctx, "worker", 16)
	time.Sleep(15 * time.Second) // the endpoint has failed for a while
	quiet := r.probe(ctx, s, healthy)
	at := time.Now()
	r.down.Store(false)
	drained := make(chan time.Duration, 1)
	go func() {
		for {
			if n, first := r.arrived(); n >= *backlog {
				drained <- time.Since(first)
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	beside := r.probe(ctx, s, healthy)
	took := <-drained
	_, first := r.arrived()
	rate := float64(*backlog) / took.Seconds()
	fmt.Printf("%s: first after %v, %d in %v\n", engine, first.Sub(at).Round(time.Millisecond), *backlog, took.Round(time.Millisecond))
	load.Bar(first.Sub(at) < 5*time.Second, "%s: first delivery %v after the endpoint was back; less than 5 s", engine, first.Sub(at).Round(time.Millisecond))
	load.Bar(rate >= 2000, "%s: a backlog drains at %.0f deliveries/s; 2,000", engine, rate)
	load.Bar(beside <= 3*quiet, "%s: p95 of a healthy endpoint %v beside it, %v before; at most 3 times", engine, beside, quiet)
}

// probe writes events for a healthy endpoint and returns the p95 of their way to it.
func (r *receiver) probe(ctx context.Context, s *site.Service, e alert.Endpoint) time.Duration {
	const probes, pace = 300, 10 * time.Millisecond
	written := map[string]time.Time{}
	for i := range probes {
		event := newEvent(e.Partner, i)
		written[string(event.ID)] = time.Now()
		load.Check(s.Store.Alerts.AddEvents(ctx, e.Partner, event))
		time.Sleep(pace)
	}
	var took []time.Duration
	for len(took) < probes {
		time.Sleep(5 * time.Millisecond)
		r.mu.Lock()
		for id, at := range written {
			if seen, there := r.seen[id]; there {
				took = append(took, seen.Sub(at))
				delete(written, id)
			}
		}
		r.mu.Unlock()
	}
	return load.Percentile(took, 95)
}

// newEvent is an alert of the usual size about a person of its own.
func newEvent(id partner.ID, n int) alert.Event {
	return load.Must(alert.NewEvent(id, alert.LeakDetected, partner.UserHash(fmt.Sprintf("%064x", n)), time.Now(), alert.Leak{Findings: []alert.LeakFinding{{
		ID: "0198c0de-7a00-7000-8000-0000000000d1", Asset: "0198c0de-7a00-7000-8000-000000000001", Kind: "email",
		Status: cyber.Status("comprometido"), Breach: "loja-exemplo", Severity: cyber.Severity("high"),
	}}}))
}
