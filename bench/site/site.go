// Package site has what benchmarks share of a service: one without listeners, for work below the API; a server process;
// made-up people.
package site

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/webhook"
)

// Site is a service's store with one partner.
type Site struct {
	*store.Store
	Folder, Address string // of the key file, of the database
	DB              *sqldb.DB
	Keys            *seal.Keys
	Endpoints       *alert.Endpoints
	Partner         partner.ID
	clean           []func() error
}

// Open makes an empty database.
func Open(ctx context.Context, engine sqldb.Engine) (*Site, error) {
	folder, err := os.MkdirTemp("", "vigia-bench")
	if err != nil {
		return nil, err
	}
	s := &Site{Folder: folder, Address: filepath.Join(folder, "vigia.db"), clean: []func() error{func() error { return os.RemoveAll(folder) }}}
	if engine == sqldb.PostgreSQL {
		var drop func() error
		if s.Address, drop, err = load.NewSchema(ctx); err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.clean = append(s.clean, drop)
	}
	if err := s.connect(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if s.Partner, err = s.NewPartner(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Join opens the database of a site that another process has made; closing it leaves the database there.
func Join(ctx context.Context, folder, address string) (*Site, error) {
	s := &Site{Folder: folder, Address: address}
	if err := s.connect(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Site) connect(ctx context.Context) (err error) {
	if s.Keys, err = seal.OpenOrCreate(filepath.Join(s.Folder, "keys.json")); err != nil {
		return err
	}
	if s.DB, err = sqldb.Open(ctx, s.Address, sqldb.Options{}); err != nil {
		return err
	}
	s.clean = append(s.clean, s.DB.Close)
	if _, err := store.Migrate(ctx, s.DB, time.Now()); err != nil {
		return err
	}
	s.Store = store.New(s.DB, s.Keys, time.Now)
	s.Endpoints = alert.NewEndpoints(s.Store.Alerts, time.Now, nil)
	return nil
}

// NewPartner makes a partner of its own.
func (s *Site) NewPartner(ctx context.Context) (partner.ID, error) {
	p, _, err := partner.NewRegistry(s.Store.Partners, time.Now, nil).Create(ctx, "Parceiro", partner.Sandbox, partner.Settings{})
	return p.ID, err
}

// Close removes the database.
func (s *Site) Close() error {
	var err error
	for i := len(s.clean) - 1; i >= 0; i-- {
		err = errors.Join(err, s.clean[i]())
	}
	return err
}

// Guard lets webhooks reach this machine.
var Guard = webhook.NewGuard([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")})

// NewEvent is an alert of the usual size about a person of its own.
func NewEvent(id partner.ID, n int) (alert.Event, error) {
	user := partner.UserHash(fmt.Sprintf("%064x", n))
	return alert.New(id, alert.LeakDetected, user, time.Now(), alert.Leak{Findings: []alert.LeakFinding{{
		ID: "0198c0de-7a00-7000-8000-0000000000d1", Asset: "0198c0de-7a00-7000-8000-000000000001", Kind: "email",
		Status: cyber.Status("comprometido"), Breach: "loja-exemplo", Severity: cyber.Severity("high"),
	}}})
}

// Waiting tells whether there are deliveries that have not arrived. Counting them would be work of its own.
func (s *Site) Waiting(ctx context.Context) (some bool, err error) {
	err = s.DB.Reader().QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM delivery WHERE state = 'pending')`).Scan(&some)
	return some, err
}

// Publish writes that many events of a partner.
func Publish(ctx context.Context, s *Site, id partner.ID, n int) error {
	for i := 0; i < n; {
		var batch []alert.Event
		for ; i < n && len(batch) < 1000; i++ {
			e, err := NewEvent(id, i)
			if err != nil {
				return err
			}
			batch = append(batch, e)
		}
		if err := s.Alerts.AddEvents(ctx, id, batch...); err != nil {
			return err
		}
	}
	return nil
}

// Dispatch starts a dispatcher with that many slots for an endpoint and no rate limit.
func (s *Site) Dispatch(slots int) (stop func()) {
	rule := webhook.DefaultGate
	rule.Concurrent, rule.PerSecond = slots, 0
	client := Guard.Client(webhook.ClientOptions{MaxIdlePerHost: slots})
	d := alert.NewDispatcher(s.Store.Alerts, client, time.Now, slog.New(slog.DiscardHandler), alert.DispatcherOptions{
		Gate: rule, NextTry: webhook.NewSchedule(func() float64 { return 0.5 }).Next,
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { d.Run(ctx); close(done) }()
	return func() { cancel(); <-done; client.CloseIdleConnections() }
}
