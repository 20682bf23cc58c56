package app

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"
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
func (s *Server) repeatChore(ctx context.Context, group *errgroup.Group, every time.Duration, name string, c chore) {
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

// repeatWork has the group run fn now and then at each interval until ctx ends.
func repeatWork(ctx context.Context, group *errgroup.Group, interval time.Duration, fn func()) {
	group.Go(func() error { runEvery(ctx, interval, fn); return nil })
}

// runEvery runs fn now and then at each interval until ctx ends.
func runEvery(ctx context.Context, interval time.Duration, fn func()) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		fn()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
