package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/corpus/password"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/telemetry"
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

// strangerBudget lets an address send so many requests a minute without proving who it is, a sixth of them at once.
func strangerBudget(perMinute int, now func() time.Time) *telemetry.Budget {
	if perMinute == 0 {
		return nil
	}
	return telemetry.NewBudget(now, time.Minute/time.Duration(perMinute), max(perMinute/6, 1))
}

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
	s.app.Store.Monitoring.ObserveLooks(watchLooks(s.metrics.RegisterCollectors))
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
