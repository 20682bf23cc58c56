// Package site has what benchmarks share of a service: the store alone, for work below the API; the service in this
// process; server processes; made-up people.
package site

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
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

// Engines are the engines to measure: the one that was asked for, or both.
func Engines(asked string) []string {
	if asked != "" {
		return []string{asked}
	}
	return []string{"sqlite", "postgres"}
}

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
func Open(ctx context.Context, engine string) *Site {
	folder, remove := load.Folder()
	s := &Site{Folder: folder, Address: filepath.Join(folder, "vigia.db"), clean: []func() error{func() error { remove(); return nil }}}
	if engine == "postgres" {
		address, drop := NewSchema(ctx)
		s.Address, s.clean = address, append(s.clean, drop)
	}
	s.connect(ctx)
	s.Partner = s.NewPartner(ctx)
	return s
}

// Join opens the database of a site that another process has made; closing it leaves the database there.
func Join(ctx context.Context, folder, address string) *Site {
	s := &Site{Folder: folder, Address: address}
	s.connect(ctx)
	return s
}

func (s *Site) connect(ctx context.Context) {
	s.Keys = load.Must(seal.OpenOrCreate(filepath.Join(s.Folder, "keys.json")))
	s.DB = load.Must(sqldb.Open(ctx, s.Address, sqldb.Options{}))
	s.clean = append(s.clean, s.DB.Close)
	load.Must(store.Migrate(ctx, s.DB, time.Now()))
	s.Store = store.New(s.DB, s.Keys, time.Now)
	s.Endpoints = alert.NewEndpoints(s.Store.Alerts, time.Now, nil)
}

// NewPartner makes a partner of its own.
func (s *Site) NewPartner(ctx context.Context) partner.ID {
	p, _, err := partner.NewRegistry(s.Store.Partners, time.Now, nil).Create(ctx, "Parceiro", partner.Sandbox, partner.Settings{})
	load.Check(err)
	return p.ID
}

// Close removes the database.
func (s *Site) Close() {
	for i := len(s.clean) - 1; i >= 0; i-- {
		load.Check(s.clean[i]())
	}
}

// NewSchema makes a schema of its own on the PostgreSQL that the environment names. Dropping it may take as long as it
// is large.
func NewSchema(ctx context.Context) (address string, drop func() error) {
	base := os.Getenv("VIGIA_TEST_POSTGRES")
	if base == "" {
		load.Fail("VIGIA_TEST_POSTGRES is not set: run under scripts/with-postgres")
	}
	u := load.Must(url.Parse(base))
	name := "bench_" + strconv.FormatInt(time.Now().UnixNano(), 36)
	run := func(ctx context.Context, statement string) error {
		db, err := sqldb.Open(ctx, base, sqldb.Options{StatementTimeout: time.Hour})
		if err != nil {
			return err
		}
		return errors.Join(load.Try(func() { Exec(ctx, db, statement) }), db.Close())
	}
	load.Check(run(ctx, `CREATE SCHEMA `+name))
	q := u.Query()
	q.Set("search_path", name)
	u.RawQuery = q.Encode()
	return u.String(), func() error { return run(context.WithoutCancel(ctx), `DROP SCHEMA `+name+` CASCADE`) }
}

// Exec runs a statement in a transaction.
func Exec(ctx context.Context, db *sqldb.DB, statement string, args ...any) {
	load.Check(db.InTx(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.ExecContext(ctx, statement, args...)
		return err
	}))
}

// Guard lets webhooks reach this machine.
var Guard = webhook.NewGuard([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")})

// NewEvent is an alert of the usual size about a person of its own.
func NewEvent(id partner.ID, n int) alert.Event {
	user := partner.UserHash(fmt.Sprintf("%064x", n))
	return load.Must(alert.New(id, alert.LeakDetected, user, time.Now(), alert.Leak{Findings: []alert.LeakFinding{{
		ID: "0198c0de-7a00-7000-8000-0000000000d1", Asset: "0198c0de-7a00-7000-8000-000000000001", Kind: "email",
		Status: cyber.Status("comprometido"), Breach: "loja-exemplo", Severity: cyber.Severity("high"),
	}}}))
}

// Waiting tells whether there are deliveries that have not arrived. Counting them would be work of its own.
func (s *Site) Waiting(ctx context.Context) (some bool) {
	load.Check(s.DB.Reader().QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM delivery WHERE state = 'pending')`).Scan(&some))
	return some
}

// Publish writes that many events of a partner.
func (s *Site) Publish(ctx context.Context, id partner.ID, n int) {
	for i := 0; i < n; {
		var batch []alert.Event
		for ; i < n && len(batch) < 1000; i++ {
			batch = append(batch, NewEvent(id, i))
		}
		load.Check(s.Alerts.AddEvents(ctx, id, batch...))
	}
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
