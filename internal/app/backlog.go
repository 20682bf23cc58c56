package app

import (
	"context"
	"crypto/rand"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/sqldb"
)

// backlog is what waits and how old things are, counted when metrics are read.
type backlog struct {
	server *Server
	gauges map[string]*prometheus.Desc
}

// backlogHelp are the metrics of a backlog.
var backlogHelp = map[string]string{
	"vigia_deliveries_pending":            "Webhook deliveries that wait to be sent or sent again, those to broken endpoints included.",
	"vigia_deliveries_oldest_age_seconds": "Age of the oldest pending delivery; 0 when there is none.",
	"vigia_jobs_due":                      "Jobs that are due and that no worker has begun or ended.",
	"vigia_jobs_oldest_age_seconds":       "Time since the longest waiting job was due; 0 when there is none.",
	"vigia_breach_newest_age_seconds":     "Time since a breach was last published.",
	"vigia_backup_age_seconds":            "Time since the last vigia backup of this database; absent when there was none.",
	"vigia_disk_free_bytes":               "Room left on the disk of the data folder.",
}

// watchBacklog registers the metrics of what waits, of ages, of the disk and of the database's pools.
func (s *Server) watchBacklog() {
	b := &backlog{server: s, gauges: map[string]*prometheus.Desc{}}
	for name, help := range backlogHelp {
		b.gauges[name] = prometheus.NewDesc(name, help, nil, nil)
	}
	s.metrics.RegisterCollectors(b, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "vigia_password_corpus_age_seconds", Help: "Time since the oldest password corpus in force was imported.",
	}, s.corpusAge))
	for name, pool := range s.app.Store.ConnectionPools() {
		s.metrics.RegisterCollectors(collectors.NewDBStatsCollector(pool, name))
	}
}

// corpusAge returns the age in seconds of the oldest password corpus in use.
func (s *Server) corpusAge() (oldest float64) {
	for _, c := range s.passwords.ListCorpora() {
		oldest = max(oldest, s.app.now().Sub(c.Imported).Seconds())
	}
	return oldest
}

// Describe names the metrics.
func (b *backlog) Describe(out chan<- *prometheus.Desc) {
	for _, d := range b.gauges {
		out <- d
	}
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
	tell("vigia_breach_newest_age_seconds", age(counted.NewestBreach))
	if !counted.LastBackup.IsZero() {
		tell("vigia_backup_age_seconds", age(counted.LastBackup))
	}
}

// looksAtOnce is how many rounds of first looks are made before new breaches are looked for again.
const looksAtOnce = 10

// makeFirstLooks looks up waiting values in past breaches as far as there are tokens, some of each partner in turn.
func (s *Server) makeFirstLooks(ctx context.Context) error {
	for range looksAtOnce {
		started, err := s.app.FirstLooks.StartLooks(ctx)
		if err != nil {
			return err
		}
		if _, err := s.app.Leaks.Library.SettleDueLooks(ctx); err != nil || started == 0 {
			return err
		}
	}
	return nil
}

// brakeEvery is how often first looks are judged. Every replica with workers does so; the row of a partner remembers
// that they were stopped.
const brakeEvery = time.Minute

// watchFirstLooks stops the first looks of partners that left their usual range: that is a sign of fishing.
func (s *Server) watchFirstLooks(ctx context.Context) {
	stopped := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "vigia_first_looks_stopped", Help: "1 for each live partner whose first looks the brake has stopped: adds (too many new values in a day), hits (unusually many or few found).",
	}, []string{"partner", "what"})
	waiting := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "vigia_first_looks_waiting", Help: "Watched values of each live partner that wait for their first look into past breaches.",
	}, []string{"partner"})
	s.metrics.RegisterCollectors(stopped, waiting)
	runEvery(ctx, brakeEvery, func() { s.reportChore(ctx, "judgement of first looks", s.brakeFirstLooks(ctx, stopped, waiting)) })
}

// brakeFirstLooks stops the first looks of partners far above their usual rate, logs each new stop, and sets the
// metrics.
func (s *Server) brakeFirstLooks(ctx context.Context, stopped, waiting *prometheus.GaugeVec) error {
	made, err := s.app.FirstLooks.BrakeLooks(ctx)
	for id, stop := range made {
		s.log.Warn("first looks of a partner are stopped until an operator releases them", "partner", string(id),
			"what", string(stop.What), "seen", stop.Seen, "usual", stop.Usual)
	}
	if err != nil {
		return err
	}
	all, err := s.app.FirstLooks.ListStopped(ctx)
	if err != nil {
		return err
	}
	stopped.Reset()
	for id, stop := range all {
		stopped.WithLabelValues(string(id), string(stop.What)).Set(1)
	}
	counts, err := s.app.FirstLooks.CountWaiting(ctx)
	if err != nil {
		return err
	}
	waiting.Reset()
	for id, n := range counts {
		waiting.WithLabelValues(string(id)).Set(float64(n))
	}
	return nil
}

// A replica that has not been heard of for replicaGone does not count any more.
const (
	replicaTells = 2 * time.Second
	replicaGone  = 10 * time.Second
)

// replicas knows how many processes share the partners' requests. Each grants its part of a partner's rate, which is
// the whole rate together where a balancer spreads requests evenly.
type replicas struct{ serving atomic.Int64 }

// countReplicas returns the number of replicas by which a rate is divided.
func (r *replicas) countReplicas() int { return int(max(r.serving.Load(), 1)) }

// joinReplicas tells the others of this process until ctx ends. On the embedded database there are no others.
func (s *Server) joinReplicas(ctx context.Context, group *errgroup.Group) {
	if s.app.Engine != sqldb.PostgreSQL {
		return
	}
	id := "r_" + rand.Text()
	tell := func() {
		n, err := s.app.Store.Upkeep.NoteReplica(ctx, id, replicaGone)
		if err != nil { // what was known last is the best guess
			s.reportChore(ctx, "count of replicas", err)
			return
		}
		if was := s.replicas.serving.Swap(int64(n)); was != int64(n) {
			s.log.Info("replicas serving", "count", n)
		}
	}
	tell() // before the first request, which would else be granted the whole rate
	repeatWork(ctx, group, replicaTells, func() {
		if !s.stopping.Load() {
			tell()
		}
	})
	s.leave = func(ctx context.Context) {
		if err := s.app.Store.Upkeep.DropReplica(ctx, id); err != nil {
			s.log.Warn("this replica counts for some more seconds", "cause", err.Error())
		}
	}
}
