package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/store"
)

// stopwatch times events from just before they are written to their first arrival.
type stopwatch struct {
	mu      sync.Mutex
	started map[string]time.Time
	took    []time.Duration
}

// ServeHTTP is the receiver.
func (w *stopwatch) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	id := r.Header.Get("webhook-id")
	w.mu.Lock()
	if at, ok := w.started[id]; ok {
		w.took = append(w.took, time.Since(at))
		delete(w.started, id)
	}
	w.mu.Unlock()
	readAll(rw, r)
}

// pace is how far apart timed events are: the service is awake but not at its limit.
const pace = 5 * time.Millisecond

// time writes n events, each of the next partner, and returns the median and the 95th percentile once all have arrived.
func (w *stopwatch) time(ctx context.Context, from *store.Store, n int, ids ...partner.ID) (p50, p95 time.Duration) {
	w.mu.Lock()
	w.took, w.started = nil, map[string]time.Time{}
	w.mu.Unlock()
	for i := range n {
		id := ids[i%len(ids)]
		e := site.NewEvent(id, i)
		w.mu.Lock()
		w.started[string(e.ID)] = time.Now()
		w.mu.Unlock()
		load.Check(from.Alerts.AddEvents(ctx, id, e))
		time.Sleep(pace)
	}
	for left := n; left > 0; time.Sleep(pace) {
		w.mu.Lock()
		left = len(w.started)
		w.mu.Unlock()
	}
	return load.Median(w.took), load.Percentile(w.took, 95)
}

// firstAttempt times the way from an event to its first attempt: in the process that dispatches, and from another one
// whose commits are only seen by the poll.
func firstAttempt(ctx context.Context, engine string, s *site.Site) {
	// A second store on the same database stands for a replica: its wake-up reaches nobody.
	replica := store.New(s.DB, s.Keys, time.Now)
	for _, side := range []struct {
		name string
		from *store.Store
	}{{"same process", s.Store}, {"other process", replica}} {
		w := &stopwatch{}
		receiver := httptest.NewServer(w)
		id := s.NewPartner(ctx)
		load.Must(s.Endpoints.Create(ctx, id, receiver.URL, nil, site.Guard))
		stop := s.Dispatch(4)
		p50, p95 := w.time(ctx, side.from, *probes, id)
		stop()
		receiver.Close()
		fmt.Printf("%-8s event to first attempt, %s: p50 %s, p95 %s (%d events, one every %s)\n", engine, side.name,
			p50.Round(10*time.Microsecond), p95.Round(10*time.Microsecond), *probes, pace)
	}
}

// deadEndpoint gives a hundred partners an endpoint each and times their events in turns: with all of them alive, and
// with one that takes every request and never answers, and that has more events waiting than all others together.
func deadEndpoint(ctx context.Context, engine string, s *site.Site) {
	const partners = 100
	w := &stopwatch{}
	alive := httptest.NewServer(w)
	defer alive.Close()
	over := make(chan struct{})
	dead := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-over:
		case <-r.Context().Done():
		}
	}))
	defer dead.Close()
	defer close(over)
	ids := make([]partner.ID, partners)
	for i := range ids {
		if ids[i] = s.NewPartner(ctx); i > 0 {
			load.Must(s.Endpoints.Create(ctx, ids[i], alive.URL+"/"+strconv.Itoa(i), nil, site.Guard))
		}
	}
	defer s.Dispatch(4)()
	hanging := load.Must(s.Endpoints.Create(ctx, ids[0], dead.URL, nil, site.Guard))
	s.Publish(ctx, ids[0], 5000)
	// In turns, because the machine has other things to do: switched off its events are held, and it is not there.
	side := func(set func(context.Context, partner.ID, alert.EndpointID) (alert.Endpoint, error)) func() load.Result {
		return func() load.Result {
			load.Must(set(ctx, ids[0], hanging.ID))
			time.Sleep(time.Second)
			_, p95 := w.time(ctx, s.Store, max(*probes, 2*partners), ids[1:]...)
			return load.Result{Requests: 1, Elapsed: p95}
		}
	}
	took := load.Turns(*rounds, side(s.Endpoints.Disable), side(s.Endpoints.Enable))
	b, d := load.Median(took[0].Elapsed()), load.Median(took[1].Elapsed())
	fmt.Printf("%-8s one dead endpoint among %d, 5000 events waiting for it: p95 of the others %s without it, %s beside it, ratio %.2f (medians of %d)\n",
		engine, partners, b.Round(10*time.Microsecond), d.Round(10*time.Microsecond), float64(d)/float64(b), *rounds)
}
