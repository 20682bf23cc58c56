package console

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/dump/feed"
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

var feedKinds = []choiceOption{
	{string(feed.Folder), "Pasta ou bucket"},
	{string(feed.List), "Lista por HTTPS"},
	{string(feed.HIBP), "Have I Been Pwned"},
}

// feedsPage is the data of the list of feeds with their latest runs.
type feedsPage struct {
	recentJobs
	Feeds []feed.Feed
}

func showNewFeed(*Console, *request) (answer, error) {
	return view{"feed-new", "Nova fonte", nil}, nil
}

// listFeeds shows the feeds that supply breaches. Their secrets are left out.
func listFeeds(c *Console, r *request) (answer, error) {
	runs, err := c.latestJobs(r.Context(), perPage, feed.KindRun)
	if err != nil {
		return nil, err
	}
	all, err := c.Rules.Feeds.All(r.Context())
	return newView("feeds", "Fontes", feedsPage{recentJobs{runs}, all}, err)
}

// feedLabel returns what a kind of feed is called.
func feedLabel(kind feed.Kind) string {
	return labelOf(feedKinds, string(kind))
}

func createFeed(c *Console, r *request) (answer, error) {
	form := newFormReader(r)
	f := feed.Feed{
		Name:   r.trimmedField("name"),
		Kind:   feed.Kind(r.trimmedField("kind")),
		Target: r.trimmedField("target"),
		Secret: r.trimmedField("key"),
		// An empty field means the default.
		Every: time.Duration(form.readNumber("minutes", 0)) * time.Minute,
		Settings: feed.Settings{
			PerMinute: form.readNumber("per_minute", 0),
			Vendor:    r.PostForm.Has("vendor"),
			NoPairs:   r.PostForm.Has("no_pairs"),
		},
	}
	form.noteFault(c.Rules.Feeds.CheckTarget(r.Context(), f))
	next := redirect{"/feeds", "feed.added"}
	return c.changeAndRedirect(r, "feed.add", next, func(ctx context.Context, in *Rules) (string, string, error) {
		_, err := in.Feeds.AddFeed(ctx, f)
		return f.Name, f.Shown(), form.joinFaults(err)
	})
}

// startFeed has a worker run a feed now.
var startFeed = changeHandler("feed.run", "name", "/feeds", "feed.started",
	func(r *request, in *Rules, name string) (string, error) {
		return "", in.Feeds.StartFeed(r.Context(), name)
	})

// pauseFeed stops the runs of a feed until it is resumed, by resumeFeed.
var pauseFeed, resumeFeed = setPaused("feed.pause", true), setPaused("feed.resume", false)

// setPaused pauses or resumes the feed in the path. The key of the message after it is the action in the past tense.
func setPaused(action string, paused bool) handler {
	return changeHandler(action, "name", "/feeds", action+"d",
		func(r *request, in *Rules, name string) (string, error) {
			_, err := in.Feeds.PauseFeed(r.Context(), name, paused)
			return "", err
		})
}
