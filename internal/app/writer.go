package app

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// watchWriter measures how long transactions keep others from SQLite's only writer.
func (s *Server) watchWriter(ctx context.Context) error {
	held := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "vigia_writer_held_seconds", Help: "Time for which a transaction held the only writer of a one-file database, its sync included.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5},
	})
	if err := s.metrics.RegisterCollector(held); err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	return s.app.Store.WatchWriter(ctx, func(time time.Duration) { held.Observe(time.Seconds()) })
}
