package app

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vigiahq/vigia/internal/cyber"
)

// protectionEvery is how often endpoint keys and people's plans are looked after. Every replica with workers does so; rows remember what
// was done.
const protectionEvery = time.Minute

// watchKeysAndPools announces keys that end soon, ends those whose time or subscription is over, reminds people of steps
// that are due, and reports pools that run low.
func (s *Server) watchKeysAndPools(ctx context.Context) error {
	free := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "vigia_epp_pool_free", Help: "Vendor keys left to be issued, by system; only systems whose keys come from a pool.",
	}, []string{"system"})
	if err := s.metrics.RegisterCollector(free); err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	runEvery(ctx, protectionEvery, func() {
		s.runChore(ctx, "told of keys that end soon or ended", s.app.Endpoints.GiveNotices)
		s.runChore(ctx, "ended keys with their subscription", s.app.Endpoints.EndUnsubscribed)
		s.runChore(ctx, "reminded of steps that are due", s.app.Monitoring.RemindSteps)
		if err := s.reportPools(ctx, free); err != nil && ctx.Err() == nil {
			s.log.Error("pools cannot be counted", "cause", err.Error())
		}
	})
	return nil
}

// runChore runs a piece of periodic work and says in the log what it did, if anything.
func (s *Server) runChore(ctx context.Context, what string, work func(context.Context) (int, error)) {
	switch n, err := work(ctx); {
	case err != nil && ctx.Err() == nil:
		s.log.Error("chore failed", "chore", what, "cause", err.Error())
	case n > 0:
		s.log.Info("chore done", "chore", what, "count", n)
	}
}

// reportPools sets the metric of free endpoint keys and logs a pool once when it runs low and once when it is filled
// again.
func (s *Server) reportPools(ctx context.Context, free *prometheus.GaugeVec) error {
	sources, err := s.app.Endpoints.ListSources(ctx)
	if err != nil {
		return err
	}
	free.Reset()
	for _, src := range sources {
		if src.Pooled {
			free.WithLabelValues(string(src.System)).Set(float64(src.Free))
		}
	}
	turned, err := s.app.Endpoints.PoolsTurnedLow(ctx)
	for _, src := range turned {
		if src.Low() {
			s.log.Warn("pool of endpoint keys is low", "system", string(src.System), "free", src.Free, "mark", src.LowMark)
		} else {
			s.log.Info("pool of endpoint keys is filled again", "system", string(src.System), "free", src.Free)
		}
	}
	return err
}

// NewPersons returns the rules of advice and score. missed is called with the error when a day's score could not be
// stored, and may be nil.
func (a *App) NewPersons(missed func(context.Context, error)) *cyber.Persons {
	return cyber.NewPersons(a.Store.Advice, a.Content, a.now, missed)
}
