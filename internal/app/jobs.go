package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/console"
	"github.com/vigiahq/vigia/internal/feed"
	"github.com/vigiahq/vigia/internal/intake"
	"github.com/vigiahq/vigia/internal/job"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/password"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/store"
)

// manyTries is for work that has to be done in the end, however long a disk is full or a bucket away.
const manyTries = 20

// jobKinds declares every kind of job once. A kind without a lane is run by the process that starts it, because no other
// process has its files. feeds may be nil where no worker runs.
func (a *App) jobKinds(feeds *feed.Feeds) []job.Kind {
	work := &job.Lane{Name: "work", AtOnce: 4}
	slow := &job.Lane{Name: "feeds", AtOnce: 4, Before: feeds.Schedule} // a slow source must not keep a match waiting
	spreads := &job.Lane{Name: "spread imports", AtOnce: 16}            // to watch over one costs next to nothing
	parts := &job.Lane{Name: "parts of imports", AtOnce: 1}             // one takes all cores
	return []job.Kind{
		{Name: seal.KindRewrite, Lane: work, Tries: manyTries, Step: a.rewriteSealed},
		{Name: leak.KindMatch, Lane: work, Tries: manyTries, Step: a.Leaks.Matcher.MatchBreach},
		{Name: leak.KindWithdraw, Lane: work, Tries: manyTries, Step: a.Leaks.Matcher.WithdrawBreach},
		{Name: leak.KindRestate, Lane: work, Tries: manyTries, Step: a.Leaks.Matcher.RestateBreach},
		{Name: leak.KindSites, Lane: work, Tries: manyTries, Step: a.Leaks.Matcher.RejudgeSites},
		{Name: feed.KindRun, Lane: slow, Tries: manyTries, Step: feeds.Run},
		{Name: intake.KindSpread, Lane: spreads, Tries: manyTries, Step: a.Leaks.Spreader.WatchParts},
		{Name: intake.KindPart, Lane: parts, Tries: manyTries, Step: a.Leaks.Spreader.RunPart},
		{Name: intake.KindImport},
		{Name: intake.KindRenew},
		{Name: leak.KindVerify},
		{Name: password.KindImport},
		{Name: password.KindDownload},
		{Name: password.KindVerify},
		{Name: console.KindExport},
		{Name: console.KindBulk},
	}
}

// startJobs runs the jobs that any worker may take.
func (s *Server) startJobs(ctx context.Context, group *errgroup.Group) error {
	feeds, err := s.app.Feeds(s.cfg.OutgoingSettings())
	if err != nil {
		return err
	}
	if feeds.Observe, err = s.watchFeeds(); err != nil {
		return err
	}
	s.app.Leaks.Spreader.Client = feeds.Client
	runner := job.NewRunner(s.app.Store.Jobs, s.log, s.app.jobKinds(feeds)...)
	group.Go(func() error { runner.RunDueJobs(ctx); return nil })
	return nil
}

// startChores runs the periodic chores of a worker.
func (s *Server) startChores(group *errgroup.Group, ctx context.Context) { //nolint:revive // the group comes first, it owns the context
	group.Go(func() error { return s.watchKeysAndPools(ctx) })
	group.Go(func() error { return s.watchFirstLooks(ctx) })
	group.Go(func() error { s.sweepRetention(ctx); return nil })
	group.Go(func() error { s.resumeErasures(ctx); return nil })
	group.Go(func() error {
		runEvery(ctx, time.Second, func() { s.runChore(ctx, "made final moves of cases", s.app.Cases.MakeEndings) })
		return nil
	})
	group.Go(func() error {
		runEvery(ctx, 30*time.Second, func() {
			if n, err := s.app.Subscriptions.SweepExpired(ctx); err != nil && ctx.Err() == nil {
				s.log.Error("sweep of subscriptions failed", "cause", err.Error())
			} else if n > 0 {
				s.log.Info("subscriptions ended", "count", n)
			}
		})
		return nil
	})
	group.Go(func() error {
		runEvery(ctx, 10*time.Minute, func() {
			if n, err := s.app.Store.Answers.SweepAnswers(ctx); err != nil && ctx.Err() == nil {
				s.log.Error("sweep of kept answers failed", "cause", err.Error())
			} else if n > 0 {
				s.log.Info("swept kept answers", "count", n)
			}
		})
		return nil
	})
}

// doDueWork does at once what the chores would do at their next round: subscriptions end, people are reminded, keys are
// announced and end.
func (a *App) doDueWork(ctx context.Context) error {
	_, err := a.Subscriptions.SweepExpired(ctx)
	for _, chore := range []func(context.Context) (int, error){a.Endpoints.GiveNotices, a.Endpoints.EndUnsubscribed, a.Monitoring.RemindSteps, a.Cases.MakeEndings} {
		_, failed := chore(ctx)
		err = errors.Join(err, failed)
	}
	return err
}

// RotateKeys makes a new primary key and asks the workers to rewrite what older ones sealed.
func (a *App) RotateKeys(ctx context.Context) error {
	if err := a.Keys.RotateKey(); err != nil {
		return err
	}
	_, err := a.Store.Jobs.AddJob(ctx, seal.KindRewrite, fmt.Sprint(a.Keys.PrimaryID()), struct{}{})
	return err
}

// rewriteSealed runs one step of the job seal.KindRewrite.
func (a *App) rewriteSealed(ctx context.Context, run *job.Run) error {
	if _, err := a.Keys.ReloadFile(); err != nil {
		return err
	}
	var p store.RewriteProgress
	if err := json.Unmarshal(run.Progress, &p); err != nil {
		return fmt.Errorf("read progress: %w", err)
	}
	for {
		done, err := a.Store.Upkeep.RewriteSealed(ctx, &p, 500)
		if err != nil || done {
			return err
		}
		if err := run.Save(ctx, p); err != nil {
			return err
		}
	}
}
