// Command console measures how fast the operator's pages answer on a long-lived installation: SQLite with millions of
// subscriptions and a million findings. Every page is asked in turns, through HTTP, with a session; the slowest answer
// of a page counts as much as its median. The figures that pages show are counted beside them, and that is measured
// too.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/operator"
)

var (
	subscriptions = flag.Int64("subscriptions", 5_000_000, "subscriptions of one partner")
	findings      = flag.Int64("findings", 1_000_000, "findings, one for each watched value")
	rounds        = flag.Int("rounds", 21, "how often each page is asked")
	data          = flag.String("data", "", "folder to fill or, when it is filled, to use again; by default one that is removed afterwards")
)

func main() {
	load.Main(func(ctx context.Context) {
		if *data == "" {
			made, remove := load.Folder()
			defer remove()
			*data = filepath.Join(made, "data")
		}
		s := site.NewService(ctx, *data, "sqlite")
		defer s.Close()
		begin := time.Now()
		fill(ctx, s)
		fmt.Printf("  %d subscriptions, %d watched values with a finding each, made in %v\n", *subscriptions, *findings, time.Since(begin).Round(time.Second))
		begin = time.Now()
		load.Check(s.Store.Overview.CountFigures(ctx, 0))
		fmt.Printf("  the figures counted anew in %v, beside the pages and once a minute\n", time.Since(begin).Round(time.Millisecond))
		s.Listen(ctx, "console", 8)
		ask(s, session(ctx, s))
	})
}

// session makes an operator who is logged in.
func session(ctx context.Context, s *site.Service) string {
	const password = "girafa amarela no telhado"
	_, link, err := s.Operators.Create(ctx, fmt.Sprintf("bench%d@exemplo.com.br", time.Now().UnixNano()), operator.Admin)
	load.Check(err)
	o, token := load.Must2(s.Operators.Accept(ctx, link, password, "127.0.0.1"))
	o = load.Must(s.Operators.BeginTOTP(ctx, o.ID))
	load.Must(s.Operators.ConfirmTOTP(ctx, o.ID, operator.CodeAt(o.TOTP, time.Now())))
	return "Cookie: " + (&http.Cookie{Name: "__Host-vigia", Value: token}).String()
}

// ask takes the pages in turns, so that whatever else the machine does falls on all of them.
func ask(s *site.Service, cookie string) {
	// A page that sends to the log-in is no answer.
	http.DefaultClient.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	var sides []func() load.Result
	for _, page := range pages(string(s.Partner.ID)) {
		sides = append(sides, func() load.Result {
			return load.Time(1, func() { load.Ask("GET", s.Console, page.path, cookie, nil) })
		})
	}
	worst, unit := time.Duration(0), 10*time.Microsecond
	for i, took := range load.Turns(*rounds, sides...) {
		slowest := slices.Max(took.Elapsed())
		worst = max(worst, slowest)
		fmt.Printf("  %-34s p50 %8v  slowest of %d %8v\n", pages("")[i].name, load.Median(took.Elapsed()).Round(unit), *rounds, slowest.Round(unit))
	}
	fmt.Printf("  slowest of all %v (bar: 100 ms)\n", worst.Round(unit))
}
