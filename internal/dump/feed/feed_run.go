package feed

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/job"
)

const (
	leastEvery   = time.Minute
	firstBackoff = time.Minute
	mostBackoff  = 6 * time.Hour
)

// RunNow runs a feed in this process, unless a server is at it.
func (fs *Feeds) RunNow(ctx context.Context, runner *job.Runner, worker, name string) (Feed, error) {
	if _, err := fs.Store.FeedByName(ctx, name); err != nil {
		return Feed{}, err
	}
	hold, err := runner.BeginJob(ctx, worker, KindRun, name, struct{}{})
	if errors.Is(err, job.ErrExists) {
		return Feed{}, intake.ErrBusy.With("name", fault.FeedRunning)
	}
	if err != nil {
		return Feed{}, err
	}
	if err := hold.RunStep(ctx, fs.Run); err != nil {
		return Feed{}, err
	}
	return fs.Store.FeedByName(ctx, name)
}

// Schedule puts a job in the queue for every feed that is due.
func (fs *Feeds) Schedule(ctx context.Context) error {
	all, err := fs.Store.ListFeeds(ctx)
	if err != nil {
		return err
	}
	now := fs.Now()
	for _, f := range all {
		if f.Paused || f.NextAt.After(now) {
			continue
		}
		_, err := fs.Jobs.EnqueueJob(ctx, KindRun, f.Name, struct{}{})
		if err != nil && !errors.Is(err, job.ErrExists) {
			return err
		}
	}
	return nil
}

// Run runs jobs of KindRun: one run of a feed. A source that fails is retried with a growing backoff; its failure is
// recorded with the feed and does not fail the job.
func (fs *Feeds) Run(ctx context.Context, run *job.Run) error {
	f, err := fs.Store.FeedByName(ctx, run.Subject)
	if err != nil {
		return err
	}
	start := fs.Now()
	failed := fs.runOneFeed(ctx, &f)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if fs.Observe != nil {
		fs.Observe(f, fs.Now().Sub(start), failed)
	}
	_, err = fs.Store.UpdateFeed(ctx, f.Name, func(kept *Feed) error {
		kept.State, kept.LastAt = f.State, start
		if failed == nil {
			kept.Failures, kept.Error, kept.NextAt = 0, "", fs.Now().Add(kept.Every)
			kept.State.SucceededAt = fs.Now().UTC()
			return nil
		}
		kept.Failures, kept.Error = kept.Failures+1, failureReason(failed)
		kept.NextAt = fs.Now().Add(min(firstBackoff<<min(kept.Failures-1, 9), mostBackoff))
		return nil
	})
	return err
}

// addressEnd is what follows the question mark of an address, and what stands before its host: both can be secret.
var addressEnd = regexp.MustCompile(`://[^/@\s"]*@|\?[^\s"]*`)

// failureReason returns what is kept of a failure. Sources put what they like into errors, so it is short; addresses
// are cut where they may hold secrets.
func failureReason(err error) string {
	text := addressEnd.ReplaceAllStringFunc(fault.Keep(err), func(found string) string {
		if found[0] == '?' {
			return "?..."
		}
		return "://...@"
	})
	return strings.ToValidUTF8(text[:min(len(text), 600)], "")
}

// runOneFeed runs a feed by its kind.
func (fs *Feeds) runOneFeed(ctx context.Context, f *Feed) error {
	switch f.Kind {
	case Folder:
		return fs.runFolder(ctx, f)
	case List:
		return fs.fetchDumpList(ctx, f)
	case HIBP:
		return fs.sweepHIBP(ctx, f)
	}
	return ErrInvalid.With("kind", fault.UnknownKindOfFeed)
}
