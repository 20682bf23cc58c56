package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/webhook"
)

func readAll(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.WriteHeader(http.StatusNoContent)
}

// rate compares the dispatcher with a plain loop.
func rate(ctx context.Context, o options, engine sqldb.Engine) error {
	s, err := site.Open(ctx, engine)
	if err != nil {
		return err
	}
	receiver := httptest.NewServer(http.HandlerFunc(readAll))
	defer receiver.Close()
	endpoint, err := s.Endpoints.Create(ctx, s.Partner, receiver.URL, nil, site.Guard)
	if err != nil {
		return errors.Join(err, s.Close())
	}
	stop, err := profile(o.profile)
	if err != nil {
		return errors.Join(err, s.Close())
	}
	var plain, ours []float64
	cost := [2]time.Duration{time.Hour, time.Hour}
	for range o.rounds {
		cpu := load.Spent()
		p, err := plainRate(ctx, o, endpoint)
		if err != nil {
			return errors.Join(err, s.Close())
		}
		cost[0] = min(cost[0], (load.Spent()-cpu)/time.Duration(o.events))
		if err := site.Publish(ctx, s, s.Partner, o.events); err != nil {
			return errors.Join(err, s.Close())
		}
		cpu = load.Spent()
		d, err := dispatchRate(ctx, o, s)
		if err != nil {
			return errors.Join(err, s.Close())
		}
		cost[1] = min(cost[1], (load.Spent()-cpu)/time.Duration(o.events))
		plain, ours = append(plain, p), append(ours, d)
	}
	stop()
	p, d := median(plain), median(ours)
	fmt.Printf("%-8s rate, %d connections: plain loop %6.0f/s, deliveries %6.0f/s, ratio %.2f (medians of %d); CPU each, receiver included: %v and %v\n",
		engine, o.conns, p, d, d/p, o.rounds, cost[0], cost[1])
	return s.Close()
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// plainRate signs and posts in a loop.
func plainRate(ctx context.Context, o options, e alert.Endpoint) (float64, error) {
	client := site.Guard.Client(webhook.ClientOptions{MaxIdlePerHost: o.conns})
	defer client.CloseIdleConnections()
	events := make([]alert.Event, o.events)
	for i := range events {
		var err error
		if events[i], err = site.NewEvent(e.Partner, i); err != nil {
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
func dispatchRate(ctx context.Context, o options, s *site.Site) (float64, error) {
	start := time.Now()
	stop := s.Dispatch(o.conns)
	defer stop()
	for {
		waiting, err := s.Waiting(ctx)
		if err != nil {
			return 0, err
		}
		if !waiting {
			return float64(o.events) / time.Since(start).Seconds(), nil
		}
		time.Sleep(20 * time.Millisecond)
	}
}
