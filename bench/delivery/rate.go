package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"vigia/bench/load"
	"vigia/internal/alert"
	"vigia/internal/cyber"
	"vigia/internal/partner"
	"vigia/internal/sqldb"
	"vigia/internal/webhook"
)

var guard = webhook.NewGuard([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")})

// newEvent is an alert of the usual size about a person of its own.
func newEvent(id partner.ID, n int) (alert.Event, error) {
	user := partner.UserHash(fmt.Sprintf("%064x", n))
	return alert.New(id, alert.LeakDetected, user, time.Now(), alert.Leak{User: user, Findings: []alert.LeakFinding{{
		ID: "0198c0de-7a00-7000-8000-0000000000d1", Asset: "0198c0de-7a00-7000-8000-000000000001", Kind: "email",
		Status: cyber.Status("comprometido"), Breach: "loja-exemplo", Severity: cyber.Severity("high"),
	}}})
}

func readAll(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.WriteHeader(http.StatusNoContent)
}

// rate compares the dispatcher with a plain loop.
func rate(ctx context.Context, o options, engine sqldb.Engine) error {
	s, err := open(ctx, engine)
	if err != nil {
		return err
	}
	receiver := httptest.NewServer(http.HandlerFunc(readAll))
	defer receiver.Close()
	endpoint, err := s.endpoints.Create(ctx, s.partner, receiver.URL, nil, guard)
	if err != nil {
		return errors.Join(err, s.close())
	}
	stop, err := profile(o.profile)
	if err != nil {
		return errors.Join(err, s.close())
	}
	var plain, ours []float64
	cost := [2]time.Duration{time.Hour, time.Hour}
	for range o.rounds {
		cpu := load.Spent()
		p, err := plainRate(ctx, o, endpoint)
		if err != nil {
			return errors.Join(err, s.close())
		}
		cost[0] = min(cost[0], (load.Spent()-cpu)/time.Duration(o.events))
		if err := publish(ctx, s, s.partner, o.events); err != nil {
			return errors.Join(err, s.close())
		}
		cpu = load.Spent()
		d, err := dispatchRate(ctx, o, s)
		if err != nil {
			return errors.Join(err, s.close())
		}
		cost[1] = min(cost[1], (load.Spent()-cpu)/time.Duration(o.events))
		plain, ours = append(plain, p), append(ours, d)
	}
	stop()
	p, d := median(plain), median(ours)
	fmt.Printf("%-8s rate, %d connections: plain loop %6.0f/s, deliveries %6.0f/s, ratio %.2f (medians of %d); CPU each, receiver included: %v and %v\n",
		engine, o.conns, p, d, d/p, o.rounds, cost[0], cost[1])
	return s.close()
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// plainRate signs and posts in a loop.
func plainRate(ctx context.Context, o options, e alert.Endpoint) (float64, error) {
	client := guard.Client(webhook.ClientOptions{MaxIdlePerHost: o.conns})
	defer client.CloseIdleConnections()
	events := make([]alert.Event, o.events)
	for i := range events {
		var err error
		if events[i], err = newEvent(e.Partner, i); err != nil {
			return 0, err
		}
	}
	var next, failed atomic.Int64
	var wg sync.WaitGroup
	start := time.Now()
	for range o.conns {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(events)); i = next.Add(1) - 1 {
				body, err := events[i].Body()
				now := time.Now()
				outcome := webhook.Send(ctx, client, webhook.Attempt{URL: e.URL, EventID: string(events[i].ID), At: now, Body: body, Keys: e.Keys.Live(now)})
				if err != nil || outcome.Status != http.StatusNoContent {
					failed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	took := time.Since(start)
	if n := failed.Load(); n > 0 {
		return 0, fmt.Errorf("%d plain posts failed", n)
	}
	return float64(o.events) / took.Seconds(), nil
}

// dispatchRate delivers the events that wait, from claimed rows to recorded ones.
func dispatchRate(ctx context.Context, o options, s *site) (float64, error) {
	start := time.Now()
	stop := s.dispatch(o.conns)
	defer stop()
	for {
		waiting, err := s.waiting(ctx)
		if err != nil {
			return 0, err
		}
		if !waiting {
			return float64(o.events) / time.Since(start).Seconds(), nil
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// waiting tells whether there are deliveries that have not arrived. Counting them would be work of its own.
func (s *site) waiting(ctx context.Context) (some bool, err error) {
	err = s.db.Reader().QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM delivery WHERE state = 'pending')`).Scan(&some)
	return some, err
}

func publish(ctx context.Context, s *site, id partner.ID, n int) error {
	for i := 0; i < n; {
		var batch []alert.Event
		for ; i < n && len(batch) < 1000; i++ {
			e, err := newEvent(id, i)
			if err != nil {
				return err
			}
			batch = append(batch, e)
		}
		if err := s.AddEvents(ctx, id, batch...); err != nil {
			return err
		}
	}
	return nil
}

// dispatch starts a dispatcher with that many slots for an endpoint and no rate limit.
func (s *site) dispatch(slots int) (stop func()) {
	rule := webhook.DefaultGate
	rule.Concurrent, rule.PerSecond = slots, 0
	client := guard.Client(webhook.ClientOptions{MaxIdlePerHost: slots})
	d := alert.NewDispatcher(s.Store, client, time.Now, slog.New(slog.DiscardHandler), alert.DispatcherOptions{
		Gate: rule, NextTry: webhook.NewSchedule(func() float64 { return 0.5 }).Next,
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { d.Run(ctx); close(done) }()
	return func() { cancel(); <-done; client.CloseIdleConnections() }
}
