package app

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// looksAtOnce is how many rounds of first looks are made before new breaches are looked for again.
const looksAtOnce = 10

// makeFirstLooks looks up waiting values in past breaches as far as there are tokens, some of each partner in turn.
func (s *Server) makeFirstLooks(ctx context.Context) error {
	for range looksAtOnce {
		started, err := s.app.FirstLooks.StartLooks(ctx)
		if err != nil {
			return err
		}
		if _, err := s.app.Leaks.Library.SettleDueLooks(ctx); err != nil || started == 0 {
			return err
		}
	}
	return nil
}

// brakeEvery is how often first looks are judged. Every replica with workers does so; the row of a partner remembers
// that they were stopped.
const brakeEvery = time.Minute

// watchFirstLooks stops the first looks of partners that left their usual range: that is a sign of fishing.
func (s *Server) watchFirstLooks(ctx context.Context) error {
	stopped := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "vigia_first_looks_stopped", Help: "1 for each live partner whose first looks the brake has stopped: adds (too many new values in a day), hits (unusually many or few found).",
	}, []string{"partner", "what"})
	waiting := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "vigia_first_looks_waiting", Help: "Watched values of each live partner that wait for their first look into past breaches.",
	}, []string{"partner"})
	for _, g := range []prometheus.Collector{stopped, waiting} {
		if err := s.metrics.RegisterCollector(g); err != nil {
			return fmt.Errorf("register metrics: %w", err)
		}
	}
	runEvery(ctx, brakeEvery, func() {
		if err := s.brakeFirstLooks(ctx, stopped, waiting); err != nil && ctx.Err() == nil {
			s.log.Error("first looks cannot be judged", "cause", err.Error())
		}
	})
	return nil
}

// brakeFirstLooks stops the first looks of partners far above their usual rate, logs each new stop, and sets the
// metrics.
func (s *Server) brakeFirstLooks(ctx context.Context, stopped, waiting *prometheus.GaugeVec) error {
	made, err := s.app.FirstLooks.BrakeLooks(ctx)
	for id, stop := range made {
		s.log.Warn("first looks of a partner are stopped until an operator releases them", "partner", string(id),
			"what", string(stop.What), "seen", stop.Seen, "usual", stop.Usual)
	}
	if err != nil {
		return err
	}
	all, err := s.app.FirstLooks.ListStopped(ctx)
	if err != nil {
		return err
	}
	stopped.Reset()
	for id, stop := range all {
		stopped.WithLabelValues(string(id), string(stop.What)).Set(1)
	}
	counts, err := s.app.FirstLooks.CountWaiting(ctx)
	if err != nil {
		return err
	}
	waiting.Reset()
	for id, n := range counts {
		waiting.WithLabelValues(string(id)).Set(float64(n))
	}
	return nil
}
