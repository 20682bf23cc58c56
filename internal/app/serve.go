package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/corpus/password"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/telemetry"
	"github.com/vigiahq/vigia/internal/web/api"
	"github.com/vigiahq/vigia/internal/web/person"
)

// Server is a running service.
type Server struct {
	app         *App
	cfg         config.Serve
	log         *slog.Logger
	metrics     *telemetry.Metrics
	stopTracing func(context.Context) error
	gate        *partner.Gate
	// callers says where requests come from, strangers what each address may ask without a key or session.
	callers   *telemetry.Callers
	strangers *telemetry.Budget
	// passwords answers look-ups and takes up new corpora by itself.
	passwords *password.Checker
	outgoing  Outgoing
	disk      *diskProbe
	// secondFactorOptional is set by the demo.
	secondFactorOptional bool
	// workAfter keeps the workers from beginning until it is closed; nil: nothing does.
	workAfter <-chan struct{}
	// stopping makes /readyz say no before anything is closed.
	stopping atomic.Bool
	replicas replicas
	// vendorSecrets are what the vendor of the antivirus signs with.
	vendorSecrets []webhook.Secret
	// leave takes this process out of where others count it.
	leave []func(context.Context)
	// lacking are values that were found under keys which this process does not have.
	lacking atomic.Pointer[[]string]
	// APIAddr and ConsoleAddr are where the listeners really are, once Ready is closed.
	APIAddr, ConsoleAddr net.Addr
	Ready                chan struct{}
}

// NewServer joins an open App to its listeners' configuration.
func NewServer(ctx context.Context, a *App, cfg config.Serve, log *slog.Logger, version string) (*Server, error) {
	if err := cfg.CheckServe(a.Config); err != nil {
		return nil, err
	}
	proxies, err := cfg.ParseProxies()
	if err != nil {
		return nil, err
	}
	outgoing, err := OpenOutgoing(cfg.OutgoingSettings())
	if err != nil {
		return nil, err
	}
	secrets, err := vendorSecrets(cfg.EppSecrets)
	if err != nil {
		return nil, err
	}
	if err := a.checkBucket(ctx, log); err != nil {
		return nil, err
	}
	// A new installation gets a small corpus of common passwords, so that its first answer is a true one. An import
	// that runs right now will do better.
	if err := a.Passwords.EnsureDefault(ctx); err != nil && !errors.Is(err, password.ErrBusy) {
		return nil, fmt.Errorf("password corpora: %w", err)
	}
	passwords, err := password.NewChecker(a.Passwords, log)
	if err != nil {
		return nil, fmt.Errorf("password corpora: %w", err)
	}
	stopTracing, err := telemetry.StartTracing(ctx, version, log)
	if err != nil {
		passwords.Close()
		return nil, err
	}
	return &Server{
		callers: &telemetry.Callers{
			Proxies: proxies,
			Shown:   telemetry.Shown(cfg.LogAddresses),
		},
		strangers:     strangerBudget(cfg.StrangerRate, a.now),
		app:           a,
		cfg:           cfg,
		log:           log,
		metrics:       telemetry.NewMetrics(),
		stopTracing:   stopTracing,
		passwords:     passwords,
		outgoing:      outgoing,
		disk:          &diskProbe{folder: a.Config.Data},
		vendorSecrets: secrets,
		gate:          partner.NewKeyGate(a.Store.Partners, a.now),
		Ready:         make(chan struct{}),
	}, nil
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

// strangerBudget lets an address send so many requests a minute without proving who it is, a sixth of them at once.
func strangerBudget(perMinute int, now func() time.Time) *telemetry.Budget {
	if perMinute == 0 {
		return nil
	}
	return telemetry.NewBudget(now, time.Minute/time.Duration(perMinute), max(perMinute/6, 1))
}

// Limits against clients that send or read slowly.
const (
	// readTime bounds a request's header and body together: one deadline for both is one that net/http need not move in
	// between.
	readTime = 15 * time.Second
	// writeTime is from the end of the headers: the body, the work and the answer; a bulk gets more from its route.
	writeTime = 40 * time.Second
	pageTime  = 150 * time.Second // the same for operators, whose reports and exports are large
	idleTime  = 60 * time.Second
	maxHeader = 16 << 10
)

// Run serves until ctx ends, then stops in order: readiness off, requests finished, workers stopped, buffers sent. A
// start that fails half way stops what it has begun in the same order.
func (s *Server) Run(ctx context.Context) error {
	work, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWork()
	release, err := s.tellApart()
	if err != nil {
		return err
	}
	group, groupCtx := errgroup.WithContext(work)
	servers, err := s.startAll(groupCtx, group)
	if err == nil {
		close(s.Ready)
		s.log.Info(
			"serving", "api",
			addressText(s.APIAddr),
			"console", addressText(s.ConsoleAddr),
			"roles", s.cfg.Roles,
			"engine", string(s.app.Engine),
		)
		select {
		case <-ctx.Done():
		case <-groupCtx.Done(): // a listener or worker failed
		}
	}
	s.stopping.Store(true)
	for _, leave := range s.leave {
		leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		leave(leaving)
		cancel()
	}
	if s.cfg.DrainTime > 0 && ctx.Err() != nil && err == nil {
		time.Sleep(s.cfg.DrainTime)
	}
	deadline, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.StopTime)
	defer cancel()
	err = errors.Join(err, shutDownServers(deadline, servers))
	stopWork()
	err = errors.Join(err, ignoreCancelled(group.Wait()), s.stopTracing(deadline))
	s.passwords.Close()
	err = errors.Join(err, release())
	s.log.Info("stopped")
	return err
}

// startAll begins everything that the roles ask for. With an error it returns the listeners that are open by then.
func (s *Server) startAll(ctx context.Context, group *errgroup.Group) (servers []*http.Server, err error) {
	if err := s.holdKeys(ctx, group); err != nil {
		return nil, err
	}
	s.startLibrary(ctx, group)
	s.followPasswords(ctx, group)
	if s.cfg.Has("api") {
		// The gate's memory is filled before the first request, so that the first one is as fast as the rest.
		group.Go(func() error { s.gate.WatchChanges(ctx); return nil })
		group.Go(func() error { return s.passwords.Run(ctx) })
		s.watchPasswords()
		s.joinReplicas(ctx, group)
		partners, err := s.partnerHandler(ctx, group)
		if err != nil {
			return nil, err
		}
		srv, addr, err := s.listenAndServe(group, s.cfg.Listen, partners, writeTime)
		if err != nil {
			return nil, err
		}
		servers, s.APIAddr = append(servers, srv), addr
	}
	pages, err := s.operatorHandler(ctx, group)
	if err != nil {
		return servers, err
	}
	srv, addr, err := s.listenAndServe(group, s.cfg.ConsoleListen, pages, pageTime)
	if err != nil {
		return servers, err
	}
	servers, s.ConsoleAddr = append(servers, srv), addr
	group.Go(func() error { return s.watchDisk(ctx) })
	repeatWork(ctx, group, diskProbeEvery, s.disk.runOnce)
	group.Go(func() error { s.watchClock(ctx); return nil })
	group.Go(func() error { return s.watchSessions(ctx) })
	if err := s.watchWriter(ctx); err != nil {
		return servers, err
	}
	s.watchBacklog()
	if s.cfg.Has("worker") {
		s.startWork(ctx, group)
	}
	return servers, nil
}

// WorkAfter has the server answer at once and its workers begin when done is closed. Call it before Run.
func (s *Server) WorkAfter(done <-chan struct{}) { s.workAfter = done }

// startWork begins the workers' jobs, chores and deliveries, now or when they may.
func (s *Server) startWork(ctx context.Context, group *errgroup.Group) {
	begin := func() {
		s.startJobs(ctx, group)
		s.startChores(ctx, group)
		s.startConsoleChores(ctx, group)
		s.startDelivery(ctx, group)
	}
	if s.workAfter == nil {
		begin()
		return
	}
	group.Go(func() error {
		select {
		case <-ctx.Done():
		case <-s.workAfter:
			begin()
		}
		return nil
	})
}

// ignoreCancelled returns nil for an error that only says that the process is stopping.
func ignoreCancelled(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// shutDownServers stops servers and waits for their requests.
func shutDownServers(ctx context.Context, servers []*http.Server) error {
	var wg sync.WaitGroup
	errs := make([]error, len(servers))
	for i, srv := range servers {
		wg.Go(func() {
			if errs[i] = srv.Shutdown(ctx); errs[i] != nil {
				errs[i] = errors.Join(errs[i], srv.Close())
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// listenAndServe opens the address before it returns, so that an address in use is an error at start.
func (s *Server) listenAndServe(
	group *errgroup.Group,
	address string,
	h http.Handler,
	answer time.Duration,
) (*http.Server, net.Addr, error) {
	ln, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, nil, listenError(address, err)
	}
	srv := &http.Server{
		Handler:           s.withFrame(h),
		ReadHeaderTimeout: readTime,
		ReadTimeout:       readTime,
		WriteTimeout:      answer,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
		ConnContext:       withFramedConn,
		// Else OPTIONS * is answered by net/http, and not counted by framingOf.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(quiet{s.log.Handler()}, slog.LevelDebug),
	}
	if s.cfg.TLSCert != "" {
		certs := &certificate{certFile: s.cfg.TLSCert, keyFile: s.cfg.TLSKey}
		if _, err := certs.currentCertificate(nil); err != nil {
			return nil, nil, errors.Join(err, ln.Close())
		}
		srv.TLSConfig = &tls.Config{
			MinVersion:     tls.VersionTLS12,
			GetCertificate: certs.currentCertificate,
			NextProtos:     []string{"h2", "http/1.1"},
		}
	}
	framed := newFramedListener(ln, srv.TLSConfig)
	group.Go(func() error {
		err := srv.Serve(framed)
		if !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve: %w", err)
		}
		return nil
	})
	return srv, ln.Addr(), nil
}

// listenError says what to do about an address that cannot be listened on.
func listenError(address string, err error) error {
	remedy := "is the host one of this machine's?"
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		remedy = "another program listens there: stop it ('ss -ltnp' names it), or choose another address with " +
			"--listen or --console-listen"
	case errors.Is(err, syscall.EACCES):
		remedy = "ports below 1024 need a right of their own: choose a higher port behind a proxy, or give the " +
			"service CAP_NET_BIND_SERVICE"
	}
	return fmt.Errorf("listen on %s: %w; %s", address, err, remedy)
}

// withFrame gives every answer an id, by which its line in the log is found, and asks clients of a stopping server to
// come back on another connection: a balancer that only sees connections would else keep sending requests here until
// the connection is closed under one of them.
func (s *Server) withFrame(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := telemetry.NewRequestID(r.Header.Get("X-Request-Id"))
		w.Header()["X-Request-Id"] = []string{id}
		framing := framingOf(r)
		if s.stopping.Load() || framing != framingPlain {
			w.Header()["Connection"] = closing
		}
		if framing == framingConflicting {
			s.log.WarnContext(r.Context(), "request refused: both a length and chunks", "request_id", id)
			refuseFraming(w)
			return
		}
		h.ServeHTTP(w, r.WithContext(telemetry.WithRequestID(r.Context(), id)))
	})
}

// closing is the header that has a client open another connection, on a replica that stays.
var closing = []string{"close"}

// quiet keeps net/http's own lines about broken connections at debug level: they may quote what a client sent.
type quiet struct{ slog.Handler }

func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	if !q.Enabled(ctx, r.Level) {
		return nil
	}
	line := slog.NewRecord(r.Time, r.Level, "connection problem", r.PC)
	return q.Handler.Handle(ctx, line)
}

// addressText returns the address as text; empty for nil.
func addressText(a net.Addr) string {
	if a == nil {
		return ""
	}
	return a.String()
}

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

// repeatWork has the group run fn now and then at each interval until ctx ends.
func repeatWork(ctx context.Context, group *errgroup.Group, interval time.Duration, fn func()) {
	group.Go(func() error { runEvery(ctx, interval, fn); return nil })
}

// runEvery runs fn now and then at each interval until ctx ends.
func runEvery(ctx context.Context, interval time.Duration, fn func()) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		fn()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
