package main

import (
	"context"
	"fmt"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/dump/feed"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// feedCmd groups the commands on feeds, the continuous sources of breaches.
type feedCmd struct {
	Add    feedAddCmd    `cmd:"" help:"Add a continuous source."`
	List   feedListCmd   `cmd:"" help:"List the sources and how they fare."`
	Pause  feedPauseCmd  `cmd:"" help:"Stop a source; nothing is lost."`
	Resume feedResumeCmd `cmd:"" help:"Let a paused source go on."`
	Run    feedRunCmd    `cmd:"" help:"Run a source now, in this process."`
	Show   feedShowCmd   `cmd:"" help:"Show one source."`
	Remove feedRemoveCmd `cmd:"" help:"Forget a source. What it brought stays."`
}

// viewFeed returns a feed as a record of output. The secrets of the target are left out.
func viewFeed(f feed.Feed) record {
	return newRecord(
		"name", f.Name,
		"kind", f.Kind,
		"target", f.Shown(),
		"paused", f.Paused,
		"every", f.Every,
		"items", f.State.Items,
		"files_without_manifest", f.State.Orphans,
		"values_left_out", f.State.LeftOut,
		"quarantined_files", f.State.Quarantined,
		"failures", f.Failures,
		"error", fault.Recall(f.Error).Text,
		"last_at", f.LastAt,
		"next_at", f.NextAt,
	)
}

// feedListCmd is 'vigia feed list', with the failures and the next run of each feed.
type feedListCmd struct{}

func (feedListCmd) Run(ctx context.Context, a *app.App, o *output) error {
	found, err := a.Store.Feeds.ListFeeds(ctx)
	if err != nil {
		return err
	}
	return o.listRecords(
		makeRecords(found, viewFeed),
		"No feed yet. Add one: vigia feed add --help",
		"name",
		"kind",
		"every",
		"paused",
		"items",
		"failures",
		"last_at",
		"next_at",
		"target",
	)
}

// feedArg names a feed.
type feedArg struct {
	Name string `arg:"" help:"The feed's name."`
}

func (f feedArg) setPaused(ctx context.Context, a *app.App, o *output, paused bool) error {
	found, err := a.Feeds(nil).PauseFeed(ctx, f.Name, paused)
	if err != nil {
		return err
	}
	return o.showRecord(viewFeed(found))
}

// feedPauseCmd is 'vigia feed pause'. Nothing is lost: the feed goes on where it stopped.
type feedPauseCmd struct{ feedArg }

func (f *feedPauseCmd) Run(ctx context.Context, a *app.App, o *output) error {
	return f.setPaused(ctx, a, o, true)
}

// feedResumeCmd is 'vigia feed resume'.
type feedResumeCmd struct{ feedArg }

func (f *feedResumeCmd) Run(ctx context.Context, a *app.App, o *output) error {
	return f.setPaused(ctx, a, o, false)
}

// feedRunCmd is 'vigia feed run'. It runs in this process and not in a worker, so that its errors are seen at once.
type feedRunCmd struct {
	feedArg
	config.Outgoing
}

func (f *feedRunCmd) Run(ctx context.Context, a *app.App, o *output) error {
	done, err := a.RunFeedNow(ctx, f.Outgoing, f.Name)
	if err != nil {
		return err
	}
	if err := o.showRecord(viewFeed(done)); err != nil {
		return err
	}
	if done.Failures > 0 {
		return fmt.Errorf("the feed failed: %s", fault.Recall(done.Error).Text)
	}
	return nil
}

// feedShowCmd is 'vigia feed show'.
type feedShowCmd struct{ feedArg }

func (f *feedShowCmd) Run(ctx context.Context, a *app.App, o *output) error {
	found, err := a.Store.Feeds.FeedByName(ctx, f.Name)
	if err != nil {
		return err
	}
	return o.showRecord(viewFeed(found))
}

// feedRemoveCmd is 'vigia feed remove'. What the feed has brought stays.
type feedRemoveCmd struct{ feedArg }

func (f *feedRemoveCmd) Run(ctx context.Context, a *app.App, o *output) error {
	if err := a.Feeds(nil).RemoveFeed(ctx, f.Name); err != nil {
		return err
	}
	return o.showRecord(newRecord("name", f.Name, "removed", true), "What it brought stays.")
}
