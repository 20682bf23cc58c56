package app

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vigiahq/vigia/internal/dump/feed"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/platform/config"
)

// Feeds makes what runs continuous sources; all it calls passes the guard of the client, or without one that of public
// addresses.
func (a *App) Feeds(through *http.Client) *feed.Feeds {
	if through == nil {
		through = webhook.NewGuard(nil).NewClient(webhook.ClientOptions{})
	}
	return &feed.Feeds{
		Store:    a.Store.Feeds,
		Breaches: a.Store.Breaches,
		Jobs:     a.Store.Jobs,
		Importer: a.Leaks.Importer,
		Client:   through,
		Now:      a.now,
	}
}

// watchFeeds registers the metrics of feeds and returns what counts a run.
func (s *Server) watchFeeds() func(feed.Feed, time.Duration, error) {
	runs := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "vigia_feed_runs_total", Help: "Runs of feeds, by feed and by how they ended.",
	}, []string{"feed", "outcome"})
	took := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "vigia_feed_last_run_seconds", Help: "How long the last run of a feed took.",
	}, []string{"feed"})
	s.metrics.RegisterCollectors(runs, took)
	return func(f feed.Feed, d time.Duration, err error) {
		outcome := "done"
		if err != nil {
			outcome = "failed"
			s.log.Error("feed failed", "feed", f.Name, "kind", string(f.Kind), "failures", f.Failures+1)
		}
		runs.WithLabelValues(f.Name, outcome).Inc()
		took.WithLabelValues(f.Name).Set(d.Seconds())
	}
}

// RunFeedNow runs a feed in this process, unless a server is at it.
func (a *App) RunFeedNow(ctx context.Context, o config.Outgoing, name string) (feed.Feed, error) {
	out, err := OpenOutgoing(o)
	if err != nil {
		return feed.Feed{}, err
	}
	return a.Feeds(out.Downloads).RunNow(ctx, a.Jobs, a.leaseHolder(), name)
}
