package app

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// backlog is what waits and how old things are, counted when metrics are read.
type backlog struct {
	server *Server
	gauges map[string]*prometheus.Desc
	// backupAge and feedFresh are apart from the others because they have labels.
	backupAge, feedFresh *prometheus.Desc
}

// backlogHelp are the metrics of a backlog.
var backlogHelp = map[string]string{
	"vigia_deliveries_pending": "Webhook deliveries that wait to be sent or sent again, those to broken " +
		"endpoints included.",
	"vigia_deliveries_oldest_age_seconds": "Age of the oldest pending delivery; 0 when there is none.",
	"vigia_jobs_due":                      "Jobs and feeds that are due and that no worker has begun or ended.",
	"vigia_jobs_oldest_age_seconds":       "Time since the longest waiting job or feed was due; 0 when there is none.",
	"vigia_first_looks_due_oldest_age_seconds": "Time since the longest waiting first look was due, for which there " +
		"is a token; 0 when there is none.",
	"vigia_breach_newest_age_seconds": "Time since a breach was last published.",
	"vigia_disk_free_bytes":           "Room left on the disk of the data folder.",
}

// watchBacklog registers the metrics of what waits, of ages, of the disk and of the database's pools.
func (s *Server) watchBacklog() {
	b := &backlog{server: s, gauges: map[string]*prometheus.Desc{}, backupAge: prometheus.NewDesc(
		"vigia_backup_age_seconds",
		"Time since a 'vigia backup' last held this part: database, leaks, passwords. Absent for a part that none "+
			"held.",
		[]string{"part"},
		nil,
	), feedFresh: prometheus.NewDesc(
		"vigia_feed_last_success_timestamp_seconds",
		"When a feed last ran without failing; when it was added, if it never did. Absent while it is paused.",
		[]string{"feed"},
		nil,
	)}
	for name, help := range backlogHelp {
		b.gauges[name] = prometheus.NewDesc(name, help, nil, nil)
	}
	s.metrics.RegisterCollectors(b, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "vigia_password_corpus_age_seconds",
		Help: "Time since the oldest imported password corpus in force was imported; 0 for the sample alone.",
	}, s.corpusAge))
	for name, pool := range s.app.Store.ConnectionPools() {
		s.metrics.RegisterCollectors(collectors.NewDBStatsCollector(pool, name))
	}
}

// corpusAge returns the age in seconds of the oldest password corpus in use. The built-in sample does not count: it is
// as old as the installation, and an operator who loads one algorithm keeps it for the other.
func (s *Server) corpusAge() (oldest float64) {
	for _, c := range s.passwords.ListCorpora() {
		if !c.Sample() {
			oldest = max(oldest, s.app.now().Sub(c.Imported).Seconds())
		}
	}
	return oldest
}

// Describe names the metrics.
func (b *backlog) Describe(out chan<- *prometheus.Desc) {
	for _, d := range b.gauges {
		out <- d
	}
	out <- b.backupAge
	out <- b.feedFresh
}

// Collect counts. What cannot be counted is left out: no figure is better than an old one.
func (b *backlog) Collect(out chan<- prometheus.Metric) {
	tell := func(name string, value float64) {
		out <- prometheus.MustNewConstMetric(b.gauges[name], prometheus.GaugeValue, value)
	}
	s := b.server
	if free, err := FreeSpace(s.app.Config.Data); err == nil {
		tell("vigia_disk_free_bytes", float64(free))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	counted, err := s.app.Store.Upkeep.CountBacklog(ctx)
	if err != nil {
		s.log.Warn("backlog cannot be counted", "cause", err.Error())
		return
	}
	now := s.app.now()
	age := func(since time.Time) float64 {
		if since.IsZero() {
			return 0
		}
		return max(0, now.Sub(since).Seconds())
	}
	tell("vigia_deliveries_pending", float64(counted.Deliveries))
	tell("vigia_deliveries_oldest_age_seconds", age(counted.OldestDelivery))
	tell("vigia_jobs_due", float64(counted.Jobs))
	tell("vigia_jobs_oldest_age_seconds", age(counted.OldestJob))
	tell("vigia_first_looks_due_oldest_age_seconds", age(counted.OldestLook))
	tell("vigia_breach_newest_age_seconds", age(counted.NewestBreach))
	for part, at := range counted.LastBackups {
		out <- prometheus.MustNewConstMetric(b.backupAge, prometheus.GaugeValue, age(at), string(part))
	}
	feeds, err := s.app.Store.Feeds.ListFeeds(ctx)
	if err != nil {
		s.log.Warn("feeds cannot be counted", "cause", err.Error())
		return
	}
	for _, f := range feeds {
		if !f.Paused {
			fresh := float64(f.FreshAsOf().Unix())
			out <- prometheus.MustNewConstMetric(b.feedFresh, prometheus.GaugeValue, fresh, f.Name)
		}
	}
}

// watchWriter measures how long transactions keep others from SQLite's only writer.
func (s *Server) watchWriter(ctx context.Context) error {
	held := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "vigia_writer_held_seconds",
		Help:    "Time for which a transaction held the only writer of a one-file database, its sync included.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5},
	})
	s.metrics.RegisterCollectors(held)
	return s.app.Store.WatchWriter(ctx, func(time time.Duration) { held.Observe(time.Seconds()) })
}
