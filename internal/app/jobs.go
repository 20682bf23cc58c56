package app

import (
	"context"
	"encoding/json"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/corpus/password"
	"github.com/vigiahq/vigia/internal/dump/feed"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/job"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/web/console"
)

// manyTries is for work that has to be done in the end, however long a disk is full or a bucket away.
const manyTries = 20

// jobKinds declares every kind of job once. A kind without a lane is run by the process that starts it, because no
// other process has its files. feeds may be nil where no worker runs.
func (a *App) jobKinds(feeds *feed.Feeds) []job.Kind {
	work := &job.Lane{Name: "work", AtOnce: 4}
	slow := &job.Lane{Name: "feeds", AtOnce: 4, Before: feeds.Schedule} // a slow source must not keep a match waiting
	return []job.Kind{
		{Name: seal.KindRewrite, Lane: work, Tries: manyTries, Step: a.rewriteSealed},
		{Name: leak.KindMatch, Lane: work, Tries: manyTries, Step: a.Leaks.Matcher.MatchBreach},
		{Name: leak.KindWithdraw, Lane: work, Tries: manyTries, Step: a.Leaks.Matcher.WithdrawBreach},
		{Name: leak.KindRestate, Lane: work, Tries: manyTries, Step: a.Leaks.Matcher.RestateBreach},
		{Name: leak.KindSites, Lane: work, Tries: manyTries, Step: a.Leaks.Matcher.RejudgeSites},
		{Name: feed.KindRun, Lane: slow, Tries: manyTries, Step: feeds.Run},
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
func (s *Server) startJobs(ctx context.Context, group *errgroup.Group) {
	feeds := s.app.Feeds(s.outgoing.Downloads)
	feeds.Observe = s.watchFeeds()
	runner := job.NewRunner(s.app.Store.Jobs, s.log, s.app.jobKinds(feeds)...)
	group.Go(func() error { runner.RunDueJobs(ctx); return nil })
}

// rewriteSealed runs one step of the job seal.KindRewrite: it seals everything anew, until a pass finds nothing to do.
// Whatever this process knew of the keys before, each transaction looks at the ring that is in the database.
func (a *App) rewriteSealed(ctx context.Context, run *job.Run) error {
	if _, err := a.Store.Upkeep.FollowRing(ctx); err != nil {
		return err
	}
	var p store.RewriteProgress
	if err := json.Unmarshal(run.Progress, &p); err != nil {
		return fmt.Errorf("read progress: %w", err)
	}
	for {
		done, err := a.Store.Upkeep.RewriteSealed(ctx, &p, 500)
		if err != nil || done && !p.BeginAgain() {
			return err
		}
		if err := run.Save(ctx, p); err != nil {
			return err
		}
	}
}
