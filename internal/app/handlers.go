package app

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/web/api"
	"github.com/vigiahq/vigia/internal/web/person"
)

// partnerHandler returns the handler of the partners' listener.
func (s *Server) partnerHandler(ctx context.Context, group *errgroup.Group) (http.Handler, error) {
	counter := api.NewCounter()
	group.Go(func() error { s.keepCounts(ctx, counter); return nil })
	health := http.NewServeMux()
	s.addHealthRoutes(health)
	persons := s.personRules()
	public, err := s.cfg.ParsePageURL()
	if err != nil {
		return nil, err
	}
	pages, err := s.personHandler(persons, public)
	if err != nil {
		return nil, err
	}
	routes := api.NewServer(api.Options{
		Gate:          s.gate,
		Contact:       s.cfg.SecurityContact,
		Ledger:        ledger{s.app, s.passwords, persons},
		Rules:         s.app.forPartners(s.passwords, persons),
		Log:           s.log,
		Metrics:       s.metrics,
		Now:           s.app.now,
		Replicas:      s.replicas.countReplicas,
		DatabaseTime:  s.cfg.DatabaseTime,
		DueWork:       s.app.doDueWork,
		PageURL:       public.String(),
		VendorSecrets: s.vendorSecrets,
		Callers:       s.callers,
		Strangers:     s.strangers,
		Guard:         s.outgoing.Guard,
		Outgoing:      s.outgoing.Webhooks,
		Counted:       counter,
	})
	// A second mux around the first would match every path twice.
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/healthz" || r.URL.Path == "/readyz":
			health.ServeHTTP(w, r)
		case strings.HasPrefix(r.URL.Path, person.Prefix):
			withDeadline(pages, s.cfg.DatabaseTime).ServeHTTP(w, r)
		default:
			routes.ServeHTTP(w, r)
		}
	}), nil
}

// vendorSecrets reads what the vendor of the antivirus signs with.
func vendorSecrets(texts []string) ([]webhook.Secret, error) {
	secrets := make([]webhook.Secret, len(texts))
	for i, text := range texts {
		var err error
		if secrets[i], err = webhook.ParseSecret(text); err != nil {
			return nil, fmt.Errorf("--epp-callback-secret: %w", err)
		}
	}
	return secrets, nil
}

// withDeadline gives the work of a request so long; zero means no end.
func withDeadline(h http.Handler, d time.Duration) http.Handler {
	if d == 0 {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), d)
		defer cancel()
		h.ServeHTTP(w, r.WithContext(ctx))
	})
}

// personHandler returns the handler of people's own pages.
func (s *Server) personHandler(persons *cyber.Persons, public url.URL) (http.Handler, error) {
	a := s.app
	return person.NewPages(person.Options{
		Rules: person.Rules{
			Sessions:   a.Sessions,
			Themes:     a.Partners,
			Monitoring: a.Monitoring,
			FirstLooks: a.FirstLooks,
			Persons:    persons,
			Cases:      a.Cases,
			Services:   a.Services,
			Endpoints:  a.Endpoints,
			Cover:      a.Cover,
			Names:      a.Store.Overview,
			Subjects:   a.Subjects,
			Audit:      a.Audit,
		},
		Log: s.log, Now: a.now, Callers: s.callers, Strangers: s.strangers, TLS: public.Scheme == "https",
	})
}

// personRules returns the rules of advice and score. A score that cannot be stored is only logged.
func (s *Server) personRules() *cyber.Persons {
	return s.app.NewPersons(func(ctx context.Context, err error) {
		s.log.WarnContext(ctx, "score of the day not kept", "cause", err.Error())
	})
}

// operatorHandler returns the handler of the operators' listener.
func (s *Server) operatorHandler(ctx context.Context, group *errgroup.Group) (http.Handler, error) {
	mux := http.NewServeMux()
	s.addHealthRoutes(mux)
	mux.Handle("GET /metrics", s.metricsHandler())
	if !s.cfg.Has("console") {
		return mux, nil
	}
	pages, err := s.consoleHandler(ctx, group)
	mux.Handle("/", pages)
	return mux, err
}

// How often the requests of partners are written down, and how long a stopping process takes over the last of them.
const (
	countsEvery = 10 * time.Second
	lastCounts  = 5 * time.Second
)

// keepCounts writes down what partners asked for.
func (s *Server) keepCounts(ctx context.Context, counter *api.Counter) {
	keep := func(ctx context.Context) {
		s.reportChore(ctx, "count of requests", counter.FlushCounts(ctx, s.app.Meter.AddRequests))
	}
	runEvery(ctx, countsEvery, func() { keep(ctx) })
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastCounts)
	defer cancel()
	keep(last)
}
