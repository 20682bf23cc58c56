package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// reviewLooksEvery is how often first looks are reviewed. Every replica with workers does so; the row of a partner
// remembers what the partner was told.
const reviewLooksEvery = time.Minute

// lookReview is the chore that reviews the first looks of all live partners: partners are told by an event, operators
// by the log and by metrics.
type lookReview struct {
	looks   *cyber.FirstLooks
	log     *slog.Logger
	waiting *prometheus.GaugeVec
	overdue *prometheus.GaugeVec
	stopped *prometheus.GaugeVec
}

// newLookReview makes the chore and its metrics.
func newLookReview(looks *cyber.FirstLooks, log *slog.Logger, register func(...prometheus.Collector)) *lookReview {
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	}
	r := &lookReview{
		looks: looks,
		log:   log,
		waiting: gauge("vigia_first_looks_waiting",
			"Watched values of each live partner that wait for their first look into past breaches.", "partner"),
		overdue: gauge("vigia_first_looks_overdue",
			"Those of them that have waited for more than 24 hours: they are not protected yet.", "partner"),
		stopped: gauge("vigia_first_looks_stopped",
			"1 for each live partner whose first looks an operator has stopped.", "partner"),
	}
	register(r.waiting, r.overdue, r.stopped)
	return r
}

// watchLooks registers the metric of first looks and returns what counts them. A partner that asks about people who are
// not its customers is found by comparing partners: see VigiaFirstLooksUnusual.
func watchLooks(register func(...prometheus.Collector)) func(id partner.ID, looks, hits int) {
	made := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "vigia_first_looks_total",
		Help: "First looks into past breaches made by this process, by live partner and whether one was found.",
	}, []string{"partner", "found"})
	register(made)
	return func(id partner.ID, looks, hits int) {
		made.WithLabelValues(string(id), "yes").Add(float64(hits))
		made.WithLabelValues(string(id), "no").Add(float64(looks - hits))
	}
}

// runOnce reviews all partners once.
func (r *lookReview) runOnce(ctx context.Context) error {
	statuses, reviewed := r.looks.ReviewLooks(ctx)
	if statuses == nil {
		return reviewed
	}
	r.waiting.Reset()
	r.overdue.Reset()
	r.stopped.Reset()
	for id, s := range statuses {
		if s.Waiting > 0 {
			r.waiting.WithLabelValues(string(id)).Set(float64(s.Waiting))
		}
		if s.Overdue > 0 {
			r.overdue.WithLabelValues(string(id)).Set(float64(s.Overdue))
		}
		if s.Pace.IsStopped() {
			r.stopped.WithLabelValues(string(id)).Set(1)
		}
	}
	return reviewed
}
