// Command delivery measures the pushing of events on both engines: its rate beside a plain loop that signs and POSTs
// the same bodies over the same number of connections, the time from an event to its first attempt, and what one dead
// endpoint among a hundred does to the others. Receiver and senders share the machine in every case, and the two sides
// of a pair take turns. PostgreSQL is the one that VIGIA_TEST_POSTGRES names (scripts/with-postgres starts a private
// one).
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime/pprof"

	"github.com/vigiahq/vigia/internal/sqldb"
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
