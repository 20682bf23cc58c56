package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/feed"
	"github.com/vigiahq/vigia/internal/intake"
	"github.com/vigiahq/vigia/internal/job"
	"github.com/vigiahq/vigia/internal/telemetry"
	"github.com/vigiahq/vigia/internal/webhook"
)

const (
	// downloadTime bounds one download of a dump.
	downloadTime = 12 * time.Hour
	mostRedirect = 5
)

// Feeds makes what runs continuous sources; all it calls passes the guard.
func (a *App) Feeds(o config.Outgoing) (*feed.Feeds, error) {
	client, err := DownloadClient(o)
	if err != nil {
		return nil, err
	}
	return &feed.Feeds{Store: a.Store.Feeds, Breaches: a.Store.Breaches, Jobs: a.Store.Jobs, Importer: a.Leaks.Importer, Client: client, Now: a.now, Random: rand.Reader}, nil
}

// harmless are the headers that may follow a redirect to another host: none of them can hold a secret.
var harmless = []string{"Accept", "User-Agent", "Range", "If-None-Match"}

// followRedirect follows a few redirects. Only harmless headers go to another host: net/http takes the usual secrets away, but
// not a key in a header of its own, nor the address before, which may be a signed one.
func followRedirect(req *http.Request, via []*http.Request) error {
	if len(via) > mostRedirect {
		return http.ErrUseLastResponse
	}
	req.Header.Del("Referer")
	if first := via[0].URL; req.URL.Host != first.Host || req.URL.Scheme != first.Scheme {
		for name := range req.Header {
			if !slices.Contains(harmless, name) {
				req.Header.Del(name)
			}
		}
	}
	return nil
}

// DownloadClient fetches dumps: it is patient and follows a few redirects, each of which passes the guard again.
func DownloadClient(o config.Outgoing) (*http.Client, error) {
	guard, err := NewOutgoingGuard(o)
	if err != nil {
		return nil, err
	}
	proxy, err := o.ParseProxy()
	if err != nil {
		return nil, err
	}
	client := guard.NewClient(webhook.ClientOptions{Proxy: proxy, Timeout: downloadTime})
	client.CheckRedirect = followRedirect
	return client, nil
}

// watchFeeds registers the metrics of feeds and returns what counts a run.
func (s *Server) watchFeeds() (func(feed.Feed, time.Duration, error), error) {
	runs := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "vigia_feed_runs_total", Help: "Runs of feeds, by feed and by how they ended.",
	}, []string{"feed", "outcome"})
	took := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "vigia_feed_last_run_seconds", Help: "How long the last run of a feed took.",
	}, []string{"feed"})
	success := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "vigia_feed_last_success_timestamp_seconds", Help: "When a feed last ran without failing.",
	}, []string{"feed"})
	for _, c := range []prometheus.Collector{runs, took, success} {
		if err := s.metrics.RegisterCollector(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return func(f feed.Feed, d time.Duration, err error) {
		outcome := "done"
		if err != nil {
			outcome = "failed"
			s.log.Error("feed failed", "feed", f.Name, "kind", string(f.Kind), "failures", f.Failures+1)
		} else {
			success.WithLabelValues(f.Name).Set(float64(s.app.now().Unix()))
		}
		runs.WithLabelValues(f.Name, outcome).Inc()
		took.WithLabelValues(f.Name).Set(d.Seconds())
	}, nil
}

// RunFeedNow runs a feed here and now, unless a server is at it.
func (a *App) RunFeedNow(ctx context.Context, o config.Outgoing, name string) (feed.Feed, error) {
	feeds, err := a.Feeds(o)
	if err != nil {
		return feed.Feed{}, err
	}
	if _, err := a.Store.Feeds.FeedByName(ctx, name); err != nil {
		return feed.Feed{}, err
	}
	hold, err := a.Jobs.BeginJob(ctx, a.leaseHolder(), feed.KindRun, name, struct{}{})
	if errors.Is(err, job.ErrExists) {
		return feed.Feed{}, intake.ErrBusy.With("name", fault.FeedRunning)
	}
	if err != nil {
		return feed.Feed{}, err
	}
	if err := hold.RunStep(ctx, feeds.Run); err != nil {
		return feed.Feed{}, err
	}
	return a.Store.Feeds.FeedByName(ctx, name)
}

// What one feed may be sent, over time and at once.
const pushesEvery, pushesAtOnce = time.Second, 30

// vendorHandler returns the handler to which vendors send breach records.
func (s *Server) vendorHandler() (http.Handler, error) {
	feeds, err := s.app.Feeds(s.cfg.OutgoingSettings())
	if err != nil {
		return nil, err
	}
	feeds.PushPace = telemetry.NewBudget(s.app.now, pushesEvery, pushesAtOnce).TakeToken
	return feed.NewPushDoor(feed.DoorOptions{Feeds: feeds, Log: s.log, Now: s.app.now, Callers: s.callers}), nil
}
