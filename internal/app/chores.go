package app

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/store"
)

// chore is a piece of work that a process repeats. Its settings are fields of its type, and a test runs it once.
type chore interface {
	runOnce(ctx context.Context) error
}

// startChores runs the periodic chores of a worker. Every replica with workers does so; rows remember what was done.
func (s *Server) startChores(ctx context.Context, group *errgroup.Group) {
	a := s.app
	looks := newLookReview(a.FirstLooks, s.log, s.metrics.RegisterCollectors)
	s.repeatChore(ctx, group, reviewLooksEvery, "review of first looks", looks)
	pools := newPoolWatch(a.Endpoints, s.log, s.metrics.RegisterCollectors)
	s.repeatChore(ctx, group, time.Minute, "count of pools", pools)
	sweep := &retentionSweep{upkeep: a.Store.Upkeep, keep: retention(s.cfg), log: s.log}
	s.repeatChore(ctx, group, time.Hour, "sweep of what is past its time", sweep)
	for _, c := range []struct {
		every time.Duration
		did   string
		work  func(context.Context) (int, error)
	}{
		{every: time.Minute, did: "told of keys that end soon or ended", work: a.Endpoints.GiveNotices},
		{every: time.Minute, did: "ended keys with their subscription", work: a.Endpoints.EndUnsubscribed},
		{every: time.Minute, did: "reminded of steps that are due", work: a.Monitoring.RemindSteps},
		{every: time.Minute, did: "ended erasures that were left half way", work: a.resumeErasures},
		{every: time.Minute, did: "carried out erasures that partners asked for", work: a.runDueErasures},
		{every: time.Second, did: "made final moves of cases", work: a.Cases.MakeEndings},
		{every: 30 * time.Second, did: "ended subscriptions", work: a.Subscriptions.SweepExpired},
		{every: 10 * time.Minute, did: "swept kept answers", work: a.sweepAnswers},
	} {
		s.repeatChore(ctx, group, c.every, c.did, &countedChore{did: c.did, work: c.work, log: s.log})
	}
}

// repeatChore runs a chore now and at each interval, and logs its failures.
func (s *Server) repeatChore(
	ctx context.Context,
	group *errgroup.Group,
	every time.Duration,
	name string,
	c chore,
) {
	repeatWork(ctx, group, every, func() { s.reportChore(ctx, name, c.runOnce(ctx)) })
}

// reportChore logs the failure of a piece of periodic work, unless the process is stopping.
func (s *Server) reportChore(ctx context.Context, name string, err error) {
	if err != nil && ctx.Err() == nil {
		s.log.Error("chore failed", "chore", name, "cause", err.Error())
	}
}

// countedChore is a chore whose work says how much it did. Work that found nothing to do is not logged.
type countedChore struct {
	did  string
	work func(context.Context) (int, error)
	log  *slog.Logger
}

// runOnce does the work once.
func (c *countedChore) runOnce(ctx context.Context) error {
	n, err := c.work(ctx)
	if err == nil && n > 0 {
		c.log.Info("chore done", "chore", c.did, "count", n)
	}
	return err
}

// poolWatch is the chore that reports pools of endpoint keys that run low.
type poolWatch struct {
	endpoints *cyber.Endpoints
	log       *slog.Logger
	free      *prometheus.GaugeVec
}

// newPoolWatch makes the chore and its metric.
func newPoolWatch(
	endpoints *cyber.Endpoints,
	log *slog.Logger,
	register func(...prometheus.Collector),
) *poolWatch {
	free := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "vigia_epp_pool_free",
		Help: "Vendor keys left to be issued, by system; only systems whose keys come from a pool.",
	}, []string{"system"})
	register(free)
	return &poolWatch{endpoints: endpoints, log: log, free: free}
}

// runOnce sets the metric of free keys and logs a pool once when it runs low and once when it is filled again.
func (p *poolWatch) runOnce(ctx context.Context) error {
	sources, err := p.endpoints.ListSources(ctx)
	if err != nil {
		return err
	}
	p.free.Reset()
	for _, source := range sources {
		if source.Pooled {
			p.free.WithLabelValues(string(source.System)).Set(float64(source.Free))
		}
	}
	turned, err := p.endpoints.PoolsTurnedLow(ctx)
	for _, source := range turned {
		log := p.log.With("system", string(source.System), "free", source.Free)
		if source.Low() {
			log.Warn("pool of endpoint keys is low", "mark", source.LowMark)
		} else {
			log.Info("pool of endpoint keys is filled again")
		}
	}
	return err
}

// retentionSweep is the chore that removes what is past its time.
type retentionSweep struct {
	upkeep store.Upkeep
	keep   store.Retention
	log    *slog.Logger
}

// runOnce removes what is past its time by now.
func (r *retentionSweep) runOnce(ctx context.Context) error {
	removed, err := r.upkeep.SweepExpired(ctx, r.keep)
	for what, n := range removed {
		if n > 0 {
			r.log.Info("removed what is past its time", "what", what, "count", n)
		}
	}
	return err
}

// retention returns the server's settings of how long data are kept.
func retention(c config.Serve) store.Retention {
	days := func(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }
	return store.Retention{
		Attempts:      days(c.KeepAttempts),
		Subscriptions: days(c.KeepSubscriptions),
		Cases:         days(c.KeepCases),
		Devices:       days(c.KeepDevices),
		Scores:        days(c.KeepScores),
		Jobs:          days(c.KeepJobs),
		Audit:         days(c.KeepAudit),
	}
}

// doDueWork does at once what the chores would do at their next round: subscriptions end, people are reminded, keys are
// announced and end, people of sandboxes are erased.
func (a *App) doDueWork(ctx context.Context) error {
	var failed error
	for _, work := range []func(context.Context) (int, error){
		a.Subscriptions.SweepExpired,
		a.Endpoints.GiveNotices,
		a.Endpoints.EndUnsubscribed,
		a.Monitoring.RemindSteps,
		a.Cases.MakeEndings,
		a.runSandboxErasures,
	} {
		_, err := work(ctx)
		failed = errors.Join(failed, err)
	}
	return failed
}

// sweepAnswers removes answers that are no longer kept for repeated requests.
func (a *App) sweepAnswers(ctx context.Context) (int, error) {
	n, err := a.Store.Answers.SweepAnswers(ctx)
	return int(n), err
}
