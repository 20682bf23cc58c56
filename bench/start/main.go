// Command start measures how long the program takes from its start until /readyz says yes: on a database of a million
// subscriptions against one that has its tables and nothing in them, in turns, on both engines.
//
//	scripts/with-postgres go run ./bench/start -engine sqlite
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/draft"
	"github.com/vigiahq/vigia/internal/subscription"
)

var (
	engine = flag.String("engine", "", "sqlite or postgres; both unless given")
	rows   = flag.Int("n", 1_000_000, "subscriptions in the full database")
	rounds = flag.Int("rounds", 11, "starts of each side, taken in turns")
)

func main() {
	load.Main(func(ctx context.Context) {
		folder, remove := load.Folder()
		defer remove()
		program := site.Build(folder)
		for _, e := range site.Engines(*engine) {
			measure(ctx, e, folder, program)
		}
	})
}

func measure(ctx context.Context, engine, folder, program string) {
	var sides []func() load.Result
	for _, n := range []int{0, *rows} {
		s := site.NewService(ctx, filepath.Join(folder, fmt.Sprint(engine, n)), engine)
		defer s.Close()
		fill(ctx, s, n)
		s.Stop()
		sides = append(sides, func() load.Result {
			var stop func()
			r := load.Time(1, func() { _, stop = site.Serve(program, s.Common) })
			stop()
			return r
		})
	}
	took := load.Turns(*rounds, sides...)
	for i, name := range []string{"empty", fmt.Sprintf("%d subscriptions", *rows)} {
		all, ms := took[i].Elapsed(), time.Millisecond
		fmt.Printf("%-8s %-22s %d starts: median %v, from %v to %v\n", engine, name, *rounds, load.Median(all).Round(ms), slices.Min(all).Round(ms), slices.Max(all).Round(ms))
	}
	fmt.Printf("%-8s full / empty: %.2f\n", engine, float64(load.Median(took[1].Elapsed()))/float64(load.Median(took[0].Elapsed())))
}

// fill imports n subscriptions, the way an operator does.
func fill(ctx context.Context, s *site.Service, n int) {
	lines, out := io.Pipe()
	go func() {
		out.CloseWithError(load.Try(func() {
			for i := range n {
				load.Must(fmt.Fprintln(out, site.Item(i)))
			}
		}))
	}()
	report := load.Must(s.Subscriptions.Import(ctx, s.Partner, draft.NewJSONLines(lines), false,
		func(r subscription.Reject) error { return fmt.Errorf("refused: %+v", r) }, func(subscription.ImportReport) {}))
	if report.Created != n {
		load.Fail("created %d of %d", report.Created, n)
	}
}
