package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/store"
)

// stopwatch times events from just before they are written to their first arrival.
type stopwatch struct {
	mu      sync.Mutex
	started map[string]time.Time
	took    []time.Duration
}

func newStopwatch() *stopwatch { return &stopwatch{started: map[string]time.Time{}} }

func (w *stopwatch) start(id alert.EventID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.started[string(id)] = time.Now()
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

// wait returns the median and the 95th percentile once all have arrived.
func (w *stopwatch) wait() (p50, p95 time.Duration) {
	for {
		w.mu.Lock()
		left := len(w.started)
		w.mu.Unlock()
		if left == 0 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	slices.Sort(w.took)
	return w.took[len(w.took)/2], w.took[len(w.took)*95/100]
}

// pace is how far apart timed events are: the service is awake but not at its limit.
const pace = 5 * time.Millisecond

// firstAttempt times the way from an event to its first attempt: in the process that dispatches, and from another one
// whose commits are only seen by the poll.
func firstAttempt(ctx context.Context, o options, engine sqldb.Engine) error {
	s, err := site.Open(ctx, engine)
	if err != nil {
		return err
	}
	// A second store on the same database stands for a replica: its wake-up reaches nobody.
	replica := store.New(s.DB, s.Keys, time.Now)
	for _, side := range []struct {
		name string
		from *store.Store
	}{{"same process", s.Store}, {"other process", replica}} {
		w := newStopwatch()
		receiver := httptest.NewServer(w)
		id, err := s.NewPartner(ctx)
		if err == nil {
			_, err = s.Endpoints.Create(ctx, id, receiver.URL, nil, site.Guard)
		}
		if err != nil {
			return errors.Join(err, s.Close())
		}
		stop := s.Dispatch(4)
		for i := range o.probes {
			if err := timed(ctx, side.from, w, id, i); err != nil {
				return errors.Join(err, s.Close())
			}
			time.Sleep(pace)
		}
		p50, p95 := w.wait()
		stop()
		receiver.Close()
		fmt.Printf("%-8s event to first attempt, %s: p50 %s, p95 %s (%d events, one every %s)\n", engine, side.name,
			p50.Round(10*time.Microsecond), p95.Round(10*time.Microsecond), o.probes, pace)
	}
	return s.Close()
}

func timed(ctx context.Context, from *store.Store, w *stopwatch, id partner.ID, n int) error {
	e, err := site.NewEvent(id, n)
	if err != nil {
		return err
	}
	w.start(e.ID)
	return from.Alerts.AddEvents(ctx, id, e)
}

// deadEndpoint gives a hundred partners an endpoint each and times their events in turns: with all of them alive, and
// with one that takes every request and never answers, and that has more events waiting than all others together.
func deadEndpoint(ctx context.Context, o options, engine sqldb.Engine) error {
	const partners = 100
	s, err := site.Open(ctx, engine)
	if err != nil {
		return err
	}
	w := newStopwatch()
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
		if ids[i], err = s.NewPartner(ctx); err == nil && i > 0 {
			_, err = s.Endpoints.Create(ctx, ids[i], alive.URL+"/"+strconv.Itoa(i), nil, site.Guard)
		}
		if err != nil {
			return errors.Join(err, s.Close())
		}
	}
	stop := s.Dispatch(4)
	defer stop()
	side := func() (time.Duration, time.Duration, error) {
		w.took = nil
		for i := range max(o.probes, 2*partners) {
			if err := timed(ctx, s.Store, w, ids[1+i%(partners-1)], i); err != nil {
				return 0, 0, err
			}
			time.Sleep(pace)
		}
		p50, p95 := w.wait()
		return p50, p95, nil
	}
	hanging, err := s.Endpoints.Create(ctx, ids[0], dead.URL, nil, site.Guard)
	if err == nil {
		err = site.Publish(ctx, s, ids[0], 5000)
	}
	if err != nil {
		return errors.Join(err, s.Close())
	}
	var before, during []float64
	for range o.rounds {
		// In turns, because the machine has other things to do: switched off its events are held, and it is not there.
		for _, turn := range []struct {
			set  func(context.Context, partner.ID, alert.EndpointID) (alert.Endpoint, error)
			took *[]float64
		}{{s.Endpoints.Disable, &before}, {s.Endpoints.Enable, &during}} {
			if _, err := turn.set(ctx, ids[0], hanging.ID); err != nil {
				return errors.Join(err, s.Close())
			}
			time.Sleep(time.Second)
			_, p95, err := side()
			if err != nil {
				return errors.Join(err, s.Close())
			}
			*turn.took = append(*turn.took, float64(p95))
		}
	}
	b, d := time.Duration(median(before)), time.Duration(median(during))
	fmt.Printf("%-8s one dead endpoint among %d, 5000 events waiting for it: p95 of the others %s without it, %s beside it, ratio %.2f (medians of %d)\n",
		engine, partners, b.Round(10*time.Microsecond), d.Round(10*time.Microsecond), float64(d)/float64(b), o.rounds)
	stop()
	return s.Close()
}
