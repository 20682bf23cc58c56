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
	unusual *prometheus.GaugeVec
	// logged are what operators were told of by the log already.
	logged map[unusualLooks]bool
}

// unusualLooks is a measure of a partner that is far from that of the others.
type unusualLooks struct {
	partner partner.ID
	what    cyber.LookMeasure
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
		unusual: gauge("vigia_first_looks_unusual",
			"1 for each live partner that is far from the others in the last 24 hours: "+
				"adds (new values), hits (first looks that found a breach).", "partner", "what"),
		logged: map[unusualLooks]bool{},
	}
	register(r.waiting, r.overdue, r.stopped, r.unusual)
	return r
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
	figures, err := r.looks.CompareLooks(ctx)
	if err != nil {
		return err
	}
	r.unusual.Reset()
	seen := map[unusualLooks]bool{}
	for id, f := range figures {
		for _, what := range f.Unusual {
			r.unusual.WithLabelValues(string(id), string(what)).Set(1)
			this := unusualLooks{id, what}
			if !r.logged[this] {
				r.log.Warn("first looks of a partner are far from those of the others", "partner", string(id),
					"what", string(what), "adds", f.Adds, "usual_adds", f.UsualAdds,
					"hits_per_thousand", f.PerThousand(), "usual_per_thousand", f.UsualPerThousand)
			}
			seen[this] = true
		}
	}
	r.logged = seen
	return reviewed
}
