// Command delivery measures the pushing of events on both engines: its rate beside a plain loop that signs and POSTs the same
// bodies over the same number of connections, the time from an event to its first attempt, and what one dead endpoint among a
// hundred does to the others. Receiver and senders share the machine in every case, and the two sides of a pair take
// turns. PostgreSQL is the one that VIGIA_TEST_POSTGRES names (scripts/with-postgres starts a private one).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"time"

	"vigia/bench/load"
	"vigia/internal/alert"
	"vigia/internal/partner"
	"vigia/internal/seal"
	"vigia/internal/sqldb"
	"vigia/internal/store"
)

type options struct {
	engine  string
	only    string
	rounds  int
	events  int
	conns   int
	probes  int
	profile string
}

func main() {
	var o options
	flag.StringVar(&o.engine, "engine", "", "sqlite or postgres; both unless given")
	flag.StringVar(&o.only, "only", "", "rate, first or dead; all unless given")
	flag.IntVar(&o.rounds, "rounds", 5, "rounds of each side, taken in turns")
	flag.IntVar(&o.events, "n", 10_000, "events of a round")
	flag.IntVar(&o.conns, "c", 32, "connections")
	flag.IntVar(&o.probes, "probes", 400, "events whose way is timed")
	flag.StringVar(&o.profile, "cpuprofile", "", "write a profile of the rate part here")
	flag.Parse()
	if err := run(context.Background(), o); err != nil {
		fmt.Fprintln(os.Stderr, "delivery:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	engines := []sqldb.Engine{sqldb.SQLite, sqldb.PostgreSQL}
	if o.engine != "" {
		engines = []sqldb.Engine{sqldb.Engine(o.engine)}
	}
	for _, engine := range engines {
		for _, part := range []struct {
			name string
			run  func(context.Context, options, sqldb.Engine) error
		}{{"rate", rate}, {"first", firstAttempt}, {"dead", deadEndpoint}} {
			if o.only != "" && o.only != part.name {
				continue
			}
			if err := part.run(ctx, o, engine); err != nil {
				return fmt.Errorf("%s: %w", engine, err)
			}
		}
	}
	return nil
}

// site is a service's store with one partner.
type site struct {
	*store.Store
	db        *sqldb.DB
	keys      *seal.Keys
	endpoints *alert.Endpoints
	partner   partner.ID
	clean     []func() error
}

// open makes an empty database.
func open(ctx context.Context, engine sqldb.Engine) (*site, error) {
	folder, err := os.MkdirTemp("", "vigia-bench")
	if err != nil {
		return nil, err
	}
	s := &site{clean: []func() error{func() error { return os.RemoveAll(folder) }}}
	address := filepath.Join(folder, "vigia.db")
	if engine == sqldb.PostgreSQL {
		var drop func() error
		if address, drop, err = load.NewSchema(ctx); err != nil {
			return nil, errors.Join(err, s.close())
		}
		s.clean = append(s.clean, drop)
	}
	if s.keys, err = seal.OpenOrCreate(filepath.Join(folder, "keys.json")); err == nil {
		s.db, err = sqldb.Open(ctx, address, sqldb.Options{})
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.clean = append(s.clean, s.db.Close)
	if _, err := store.Migrate(ctx, s.db, time.Now()); err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.Store = store.New(s.db, s.keys, time.Now)
	s.endpoints = alert.NewEndpoints(s.Store, time.Now, nil)
	if s.partner, err = s.newPartner(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *site) newPartner(ctx context.Context) (partner.ID, error) {
	p, _, err := partner.NewRegistry(s.Store, time.Now, nil).Create(ctx, "Parceiro", partner.Sandbox, partner.Settings{})
	return p.ID, err
}

func (s *site) close() error {
	var err error
	for i := len(s.clean) - 1; i >= 0; i-- {
		err = errors.Join(err, s.clean[i]())
	}
	return err
}

func profile(path string) (func(), error) {
	if path == "" {
		return func() {}, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, err
	}
	return func() { pprof.StopCPUProfile(); _ = f.Close() }, nil
}
