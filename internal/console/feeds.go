package console

import (
	"context"
	"time"

	"vigia/internal/leak"
)

// Feeds are the continuous sources of dumps.
type Feeds interface {
	All(ctx context.Context) ([]leak.Feed, error)
	Add(ctx context.Context, f leak.Feed) (leak.Feed, error)
	Pause(ctx context.Context, name string, paused bool) (leak.Feed, error)
}

// feedRow is a feed as a page shows it: without its key.
type feedRow struct {
	leak.Feed
	Label string
}

var feedKinds = []choiceOption{
	{string(leak.FeedFolder), "Pasta ou bucket"},
	{string(leak.FeedList), "Lista por HTTPS"},
	{string(leak.FeedCrawl), "Páginas por proxy SOCKS5"},
	{string(leak.FeedHIBP), "Have I Been Pwned"},
}

type feedsPage struct {
	Feeds []feedRow
	Kinds []choiceOption
}

func listFeeds(c *Console, r *request) (answer, error) {
	all, err := c.Rules.Feeds.All(r.Context())
	if err != nil {
		return nil, err
	}
	page := feedsPage{Kinds: feedKinds}
	for _, f := range all {
		row := feedRow{Feed: f, Label: string(f.Kind)}
		row.Secret = ""
		for _, k := range feedKinds {
			if k.Value == string(f.Kind) {
				row.Label = k.Label
			}
		}
		page.Feeds = append(page.Feeds, row)
	}
	return view{"feeds", "Fontes", page}, nil
}

func addFeed(c *Console, r *request) (answer, error) {
	every, err := time.ParseDuration(r.text("minutes") + "m")
	if err != nil {
		return nil, errForm.With("minutes: a whole number")
	}
	f := leak.Feed{
		Name: r.text("name"), Kind: leak.FeedKind(r.text("kind")), Target: r.text("target"), Secret: r.text("key"), Every: every,
		Settings: leak.FeedSettings{Proxy: r.text("proxy")},
	}
	err = c.change(r, "feed.add", func(ctx context.Context) (string, string, error) {
		_, err := c.Rules.Feeds.Add(ctx, f)
		return f.Name, f.Target, err
	})
	if err != nil {
		return nil, err
	}
	return redirect{"/feeds", "feed.added"}, nil
}

func pauseFeed(c *Console, r *request) (answer, error) { return c.setPaused(r, "feed.pause", true) }

func resumeFeed(c *Console, r *request) (answer, error) { return c.setPaused(r, "feed.resume", false) }

func (c *Console) setPaused(r *request, action string, paused bool) (answer, error) {
	err := c.change(r, action, func(ctx context.Context) (string, string, error) {
		_, err := c.Rules.Feeds.Pause(ctx, r.PathValue("name"), paused)
		return r.PathValue("name"), "", err
	})
	if err != nil {
		return nil, err
	}
	return redirect{"/feeds", action + "d"}, nil
}
