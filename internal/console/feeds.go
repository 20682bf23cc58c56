package console

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/feed"
)

// Feeds are the continuous sources of dumps.
type Feeds interface {
	All(ctx context.Context) ([]feed.Feed, error)
	AddFeed(ctx context.Context, f feed.Feed) (feed.Feed, error)
	CheckTarget(ctx context.Context, f feed.Feed) error
	PauseFeed(ctx context.Context, name string, paused bool) (feed.Feed, error)
	// StartFeed has a worker run a feed now.
	StartFeed(ctx context.Context, name string) error
}

// feedRow is a feed as a page shows it: without its key.
type feedRow struct {
	feed.Feed
	Label string
}

var feedKinds = []choiceOption{
	{string(feed.Folder), "Pasta ou bucket"},
	{string(feed.List), "Lista por HTTPS"},
	{string(feed.HIBP), "Have I Been Pwned"},
}

// pushLabel is the kind that the form of a new feed does not offer: its secret is shown on the command line.
const pushLabel = "Registros enviados e assinados"

// feedsPage is the data of the list of feeds with their latest runs.
type feedsPage struct {
	recentJobs
	Feeds []feedRow
}

// newFeedPage is the data of the form of a new feed.
type newFeedPage struct{ Kinds, Exposed []choiceOption }

// showNewFeed shows the form of a new feed.
func showNewFeed(*Console, *request) (answer, error) {
	return view{"feed-new", "Nova fonte", newFeedPage{feedKinds, exposedOptions}}, nil
}

// listFeeds shows the feeds that supply breaches. Their secrets are left out.
func listFeeds(c *Console, r *request) (answer, error) {
	all, err := c.Rules.Feeds.All(r.Context())
	if err != nil {
		return nil, err
	}
	var page feedsPage
	if page.Jobs, err = c.latestJobs(r, feed.KindRun); err != nil {
		return nil, err
	}
	for _, f := range all {
		row := feedRow{Feed: f, Label: string(f.Kind)}
		if f.Kind == feed.Pushed {
			row.Label = pushLabel
		}
		row.Secret, row.Target = "", f.Shown()
		for _, k := range feedKinds {
			if k.Value == string(f.Kind) {
				row.Label = k.Label
			}
		}
		page.Feeds = append(page.Feeds, row)
	}
	return view{"feeds", "Fontes", page}, nil
}

// createFeed makes a feed.
func createFeed(c *Console, r *request) (answer, error) {
	f := feed.Feed{
		Name: r.trimmedField("name"), Kind: feed.Kind(r.trimmedField("kind")), Target: r.trimmedField("target"), Secret: r.trimmedField("key"),
		Every:    time.Duration(r.readNumber("minutes", 0)) * time.Minute,
		Settings: feed.Settings{PerMinute: r.readNumber("per_minute", 0), NoPairs: r.PostForm.Has("no_pairs")}, // an empty field means the default
	}
	r.noteFormError(c.Rules.Feeds.CheckTarget(r.Context(), f))
	return c.changeAndRedirect(r, "feed.add", redirect{"/feeds", "feed.added"}, func(ctx context.Context, in *Rules) (string, string, error) {
		_, err := in.Feeds.AddFeed(ctx, f)
		return f.Name, f.Shown(), err
	})
}

// startFeed starts a feed now.
func startFeed(c *Console, r *request) (answer, error) {
	name := r.PathValue("name")
	return c.changeAndRedirect(r, "feed.run", redirect{"/feeds", "feed.started"}, func(ctx context.Context, in *Rules) (string, string, error) {
		return name, "", in.Feeds.StartFeed(ctx, name)
	})
}

// pauseFeed stops the runs of a feed until it is resumed.
func pauseFeed(c *Console, r *request) (answer, error) { return c.setPaused(r, "feed.pause", true) }

// resumeFeed lets a paused feed run again.
func resumeFeed(c *Console, r *request) (answer, error) { return c.setPaused(r, "feed.resume", false) }

// setPaused pauses or resumes the feed in the path. The key of the message after it is the action in the past tense.
func (c *Console) setPaused(r *request, action string, paused bool) (answer, error) {
	return c.changeAndRedirect(r, action, redirect{"/feeds", action + "d"}, func(ctx context.Context, in *Rules) (string, string, error) {
		_, err := in.Feeds.PauseFeed(ctx, r.PathValue("name"), paused)
		return r.PathValue("name"), "", err
	})
}
