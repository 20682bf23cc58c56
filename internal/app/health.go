package app

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
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

// errDiskFull names the data folder: with PostgreSQL the database is on another disk.
var errDiskFull = errors.New("the disk of the data folder is full")

// readiness returns the state of each part and whether the service is ready. The reasons go to the log, not to the
// client. For each password corpus it says whether it is a real one or the built-in sample, which is of no use to a
// live partner but does not make the rest of the service unready, and whether other replicas have one that is missing
// here.
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
	note("keys", s.checkKeys(ctx))
	free, err := FreeSpace(s.app.Config.Data)
	refused := s.disk.check()
	switch {
	case refused != nil:
		note("disk", refused)
	case err != nil:
		checks["disk"] = "unknown"
	case free < fullDisk:
		note("disk", errDiskFull)
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
