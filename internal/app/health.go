package app

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store"
)

// addHealthRoutes adds the two questions a balancer asks: is the process alive, and may it get traffic.
func (s *Server) addHealthRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeHealth(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		checks, ok := s.readiness(r.Context())
		if !ok {
			writeHealth(w, http.StatusServiceUnavailable, checks)
			return
		}
		writeHealth(w, http.StatusOK, checks)
	})
}

// With less than fullDisk nothing is to be written; lowDisk is time to make room.
const (
	fullDisk = 4 << 20
	lowDisk  = 500 << 20
)

// readiness returns the state of each part and whether the service is ready. The reasons go to the log, not to the client.
// For each password corpus it says whether it is a real one or the built-in sample, which is of no use to a live partner
// but does not make the rest of the service unready, and whether other replicas have one that is missing here.
func (s *Server) readiness(ctx context.Context) (map[string]string, bool) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	checks, ready := map[string]string{}, true
	note := func(name string, err error) {
		checks[name] = "ok"
		if err != nil {
			checks[name], ready = "failing", false
			s.log.WarnContext(ctx, "not ready", "part", name, "cause", err.Error())
		}
	}
	note("database", s.app.Store.CheckReady(ctx))
	_, err := s.app.Keys.ReloadFile()
	note("keys", err)
	free, err := FreeSpace(s.app.Config.Data)
	refused := s.disk.check()
	switch {
	case refused != nil:
		note("disk", refused)
	case err != nil:
		checks["disk"] = "unknown"
	case free < fullDisk:
		note("disk", sqldb.ErrDiskFull)
		checks["disk"] = "full"
	case free < lowDisk:
		checks["disk"] = "low"
	default:
		checks["disk"] = "ok"
	}
	if s.cfg.Has("api") {
		note("corpora", s.passwords.CheckHealth())
		for _, c := range s.passwords.ListCorpora() {
			checks["corpora."+c.Algorithm.String()] = "corpus"
			if c.Sample() {
				checks["corpora."+c.Algorithm.String()] = "sample"
			}
			if s.replicas.lacks(c.Algorithm.String()) {
				checks["corpora."+c.Algorithm.String()] = "missing"
			}
		}
		if cause := s.replicas.notWholeYet(); cause != "" {
			note("corpora", errors.New(cause))
		}
	}
	if s.stopping.Load() {
		checks["process"], ready = "stopping", false
	}
	return checks, ready
}

// metricsHandler serves metrics to clients with the token. The source address is not considered: behind a proxy on this
// machine every request comes from this machine.
func (s *Server) metricsHandler() http.Handler {
	metrics, want := s.metrics.NewHandler(), []byte("Bearer "+s.cfg.MetricsToken)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case s.cfg.MetricsToken == "":
			http.Error(w, "metrics: start the service with --metrics-token", http.StatusForbidden)
		case subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), want) != 1:
			w.Header().Set("www-authenticate", "Bearer")
			http.Error(w, "metrics: the token of --metrics-token", http.StatusUnauthorized)
		default:
			metrics.ServeHTTP(w, r)
		}
	})
}

// writeHealth writes an answer about health that no cache may keep.
func writeHealth(w http.ResponseWriter, status int, body map[string]string) {
	w.Header().Set("content-type", "application/json")
	w.Header().Set("cache-control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client may have disconnected
}

// watchDisk ends the process when the database's disk is not to be trusted any more; who supervises it starts a new
// one.
func (s *Server) watchDisk(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-s.app.Store.Distrusted():
		s.log.Error("the disk failed under the database: stopping, to begin anew from what is on it")
		return sqldb.ErrDistrusted
	}
}

// sessionsEvery is how often it is proven that the database gives each connection a session of its own.
const sessionsEvery = 30 * time.Second

// watchSessions ends the process when a connection pooler has begun to share sessions: locks do not hold any more. A
// database that does not answer is no proof.
func (s *Server) watchSessions(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	runEvery(ctx, sessionsEvery, func() {
		if err := s.app.Store.ProveSession(ctx); errors.Is(err, sqldb.ErrSharedSession) {
			s.log.Error("stopping", "cause", err.Error())
			stop(err)
		}
	})
	return context.Cause(ctx)
}

// LongStatement is how long one statement of a check may take on PostgreSQL.
const LongStatement = time.Hour

// CheckAll checks everything that this installation stores and returns the problems found: the database, the segments and
// password corpora, and who can read the files. It may run beside servers. at is called with the progress and may be nil.
func (a *App) CheckAll(ctx context.Context, at func(name string, rows int64)) ([]store.Problem, error) {
	if at == nil {
		at = func(string, int64) {}
	}
	var list []store.Problem
	found := func(p store.Problem) { list = append(list, p) }
	for _, c := range a.Store.Upkeep.ListChecks() {
		at(c.Name, 0)
		if err := c.Run(ctx, found, func(rows int64) { at(c.Name, rows) }); err != nil {
			return list, fmt.Errorf("check %s: %w", c.Name, err)
		}
	}
	if err := a.checkSegments(ctx, found, at); err != nil {
		return list, err
	}
	at("passwords", 0)
	if err := a.Passwords.VerifyFiles(ctx); err != nil {
		if ctx.Err() != nil {
			return list, ctx.Err()
		}
		found(store.Problem{Check: "passwords", Where: "corpora/password", What: err.Error()})
	}
	a.checkModes(found)
	return list, nil
}

// checkSegments reads every published segment from the first byte to the last.
func (a *App) checkSegments(ctx context.Context, found func(store.Problem), at func(string, int64)) error {
	at("segments", 0)
	segments, _, err := a.Store.Breaches.ListSegments(ctx)
	if err != nil {
		return fmt.Errorf("check segments: %w", err)
	}
	for i, g := range segments {
		for _, f := range g.ListFiles() {
			_, err := a.Leaks.verifySegment(ctx, f)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				found(store.Problem{Check: "segments", Where: "breach " + g.Breach, What: err.Error()})
			}
		}
		at("segments", int64(i+1))
	}
	return nil
}

// checkModes looks for files that others can read.
func (a *App) checkModes(found func(store.Problem)) {
	if runtime.GOOS == "windows" {
		return
	}
	for path, most := range map[string]os.FileMode{
		a.Config.Data: 0o700, filepath.Join(a.Config.Data, "vigia.db"): 0o600, filepath.Join(a.Config.Data, "vigia.db-wal"): 0o600, a.Keys.Path(): 0o600,
	} {
		info, err := os.Stat(path)
		if err != nil { // not there: a database may be a server's
			continue
		}
		if mode := info.Mode().Perm(); mode&^most != 0 {
			found(
				store.Problem{
					Check: "files",
					Where: filepath.Base(path),
					What:  fmt.Sprintf("others can read it: its mode is %04o, and should be %04o", mode, most),
				},
			)
		}
	}
}

// backlog is what waits and how old things are, counted when metrics are read.
type backlog struct {
	server *Server
	gauges map[string]*prometheus.Desc
	// backupAge is apart from the others because it has a label.
	backupAge *prometheus.Desc
}

// backlogHelp are the metrics of a backlog.
var backlogHelp = map[string]string{
	"vigia_deliveries_pending":            "Webhook deliveries that wait to be sent or sent again, those to broken endpoints included.",
	"vigia_deliveries_oldest_age_seconds": "Age of the oldest pending delivery; 0 when there is none.",
	"vigia_jobs_due":                      "Jobs that are due and that no worker has begun or ended.",
	"vigia_jobs_oldest_age_seconds":       "Time since the longest waiting job was due; 0 when there is none.",
	"vigia_breach_newest_age_seconds":     "Time since a breach was last published.",
	"vigia_disk_free_bytes":               "Room left on the disk of the data folder.",
}

// watchBacklog registers the metrics of what waits, of ages, of the disk and of the database's pools.
func (s *Server) watchBacklog() {
	b := &backlog{server: s, gauges: map[string]*prometheus.Desc{}, backupAge: prometheus.NewDesc(
		"vigia_backup_age_seconds",
		"Time since a 'vigia backup' last held this part: database, leaks, passwords. Absent for a part that none held.",
		[]string{"part"},
		nil,
	)}
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
	out <- b.backupAge
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
	for part, at := range counted.LastBackups {
		out <- prometheus.MustNewConstMetric(b.backupAge, prometheus.GaugeValue, age(at), string(part))
	}
}
