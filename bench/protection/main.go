// Command protection measures score and advice of people with many open findings through the whole stack, on both
// engines, against the point get: GET /subscriptions/{plan_id}/{beneficiary_cpf}. The sides run in turns against one
// server. PostgreSQL is the one that VIGIA_TEST_POSTGRES names (scripts/with-postgres starts a private one).
//
//	go run ./bench/protection [-engine sqlite] [-findings 200]
//
// It exits with 1 when a side falls under its bar.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime/pprof"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/telemetry"
)

// bar is the least share of the point get's requests a second.
const bar = 0.30

type options struct {
	engine   string
	findings int
	people   int
	rounds   int
	conns    int
	each     time.Duration
	profile  string
}

func main() {
	var o options
	flag.StringVar(&o.engine, "engine", "", "sqlite or postgres; both unless given")
	flag.IntVar(&o.findings, "findings", 200, "open findings of each person, each in a breach of its own")
	flag.IntVar(&o.people, "people", 20, "people who are asked about in turn")
	flag.IntVar(&o.rounds, "rounds", 5, "rounds of each side, taken in turns; the best counts")
	flag.IntVar(&o.conns, "c", 32, "connections")
	flag.DurationVar(&o.each, "d", 2*time.Second, "length of a round")
	flag.StringVar(&o.profile, "cpuprofile", "", "write a profile of the last engine here")
	flag.Parse()
	var errs []error
	for _, engine := range load.Engines(o.engine) {
		o.engine = engine
		if err := measure(o); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", engine, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		fmt.Fprintln(os.Stderr, "protection:", err)
		os.Exit(1)
	}
}

func measure(o options) (err error) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	folder, err := os.MkdirTemp("", "vigia-bench")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	common := config.Common{Data: filepath.Join(folder, "data")}
	if o.engine == "postgres" {
		var drop func() error
		if common.Database, drop, err = load.NewSchema(ctx); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, drop()) }()
	}
	a, err := app.Open(ctx, common, sqldb.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	address, done, err := serve(ctx, a, folder)
	if err != nil {
		return err
	}
	begin := time.Now()
	w, err := populate(ctx, a, address, o)
	if err != nil {
		return err
	}
	if o.engine == "postgres" { // what autovacuum does in its own time: without figures the planner guesses
		if err := analyse(ctx, common.Database); err != nil {
			return err
		}
	}
	fmt.Printf("\n%s: %d people with %d findings each, made in %v\n", o.engine, o.people, o.findings, time.Since(begin).Round(time.Second))
	if o.profile != "" {
		f, err := os.Create(o.profile)
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer func() { pprof.StopCPUProfile(); err = errors.Join(err, f.Close()) }()
	}
	err = compare(ctx, o, w, address)
	stop()
	return errors.Join(err, <-done)
}

// serve starts the partner API as a server would, its log going to a file.
func serve(ctx context.Context, a *app.App, folder string) (string, <-chan error, error) {
	logFile, err := telemetry.OpenLogFile(filepath.Join(folder, "log"))
	if err != nil {
		return "", nil, err
	}
	srv, err := app.NewServer(ctx, a, config.Serve{
		Listen: "127.0.0.1:0", ConsoleListen: "127.0.0.1:0", Roles: []string{"api"}, MaxConnections: 16, StopTime: time.Second,
	}, telemetry.NewLogger(logFile, telemetry.LogOptions{Format: "json"}), "bench")
	if err != nil {
		return "", nil, err
	}
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx) }()
	select {
	case <-srv.Ready:
	case err := <-done:
		return "", nil, errors.Join(err, errors.New("the server ended"))
	}
	return srv.APIAddr.String(), done, nil
}

// compare takes turns: point get, score, advice.
func compare(ctx context.Context, o options, w world, address string) error {
	paths := map[string]func(n int) string{
		"point get": func(n int) string { return "/v1/subscriptions/" + planID + "/" + w.cpfs[n] },
		"score":     func(n int) string { return "/v1/cyber/score/" + w.hashes[n] },
		"advice":    func(n int) string { return "/v1/cyber/advise/" + w.hashes[n] },
	}
	best := map[string]load.Result{}
	cost := map[string]time.Duration{"point get": time.Hour, "score": time.Hour, "advice": time.Hour}
	for range o.rounds {
		for _, side := range []string{"point get", "score", "advice"} {
			cpu := load.Spent()
			r, err := load.Run(ctx, address, o.conns, o.each, func(int) []byte {
				return load.Request(http.MethodGet, address, paths[side](rand.IntN(o.people)), w.key, nil)
			})
			if err != nil {
				return fmt.Errorf("%s: %w", side, err)
			}
			cost[side] = min(cost[side], (load.Spent()-cpu)/time.Duration(r.Requests))
			if best[side].Requests == 0 || r.Rate() > best[side].Rate() {
				best[side] = r
			}
		}
	}
	var short []error
	get := best["point get"]
	fmt.Printf("  point get  %8.0f requests/s  p50 %v, CPU %v\n", get.Rate(), get.P50, cost["point get"])
	for _, side := range []string{"score", "advice"} {
		r, share := best[side], best[side].Rate()/get.Rate()
		fmt.Printf("  %-9s  %8.0f requests/s  p50 %v, CPU %v  %5.1f %% of the point get (bar %.0f %%)\n", side, r.Rate(), r.P50, cost[side], 100*share, 100*bar)
		if share < bar {
			short = append(short, fmt.Errorf("%s is under its bar", side))
		}
	}
	return errors.Join(short...)
}
