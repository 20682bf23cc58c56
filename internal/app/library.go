package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
)

// libraryEvery is how often a process looks for new breaches and for values whose first look can be made.
const libraryEvery = time.Second

// libraryFollower is the chore that keeps the published segments open and, in a worker, looks up values that wait for
// their first look.
type libraryFollower struct {
	library *leak.Library
	// looks is nil in a process that is no worker.
	looks *cyber.FirstLooks
	log   *slog.Logger
	// lastFailure is logged already: the same failure is logged once, not every second.
	lastFailure string
}

// runOnce looks for new breaches once.
func (f *libraryFollower) runOnce(ctx context.Context) {
	err := f.library.LoadPublished(ctx)
	if f.looks != nil { // also where a breach is missing: what the others hold is told
		if failed := f.library.MakeFirstLooks(ctx, f.looks); err == nil {
			err = failed
		}
	}
	if err == nil || ctx.Err() != nil {
		f.lastFailure = ""
		return
	}
	if err.Error() != f.lastFailure {
		f.log.Error("leak corpora are not whole", "cause", err.Error())
	}
	f.lastFailure = err.Error()
}

// startLibrary opens the published segments before the first request comes, and follows what is published.
func (s *Server) startLibrary(ctx context.Context, group *errgroup.Group) {
	library := s.app.Leaks.Library
	library.SetLogger(s.log)
	s.watchLibrary()
	follower := &libraryFollower{library: library, log: s.log}
	if s.cfg.Has("worker") {
		follower.looks = s.app.FirstLooks
	}
	follower.runOnce(ctx)
	repeatWork(ctx, group, libraryEvery, func() { follower.runOnce(ctx) })
}

// watchLibrary registers the metrics of the open segments.
func (s *Server) watchLibrary() {
	library := s.app.Leaks.Library
	gauge := func(name, help string, value func() float64) {
		options := prometheus.GaugeOpts{Name: name, Help: help}
		s.metrics.RegisterCollectors(prometheus.NewGaugeFunc(options, value))
	}
	gauge("vigia_leak_segments", "Breach segments that this process holds open.", func() float64 {
		segments, _ := library.Size()
		return float64(segments)
	})
	gauge("vigia_leak_keys", "Fingerprints in the open segments.", func() float64 {
		_, keys := library.Size()
		return float64(keys)
	})
	gauge("vigia_leak_pairs", "Pairs of an identifier and a password in the open segments.", func() float64 {
		return float64(library.CountPairs())
	})
	gauge("vigia_leak_known_ratio", "Which part of the newest measured breach earlier ones had.", func() float64 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		ratio, err := s.app.Leaks.Breaches.KnownRatio(ctx)
		if err != nil {
			return 0
		}
		return ratio
	})
}
