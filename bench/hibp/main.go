// Command hibp measures what it takes to ask Have I Been Pwned about all watched addresses by hash range: how many calls,
// how long those take at the rates that are sold, and how long our part of it takes. A stand-in of the service answers in
// the same process, without a limit, with as many hashes of others in a range as the service's own example has; the
// addresses are real rows, sealed, and what is found of them is kept, with its events.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/feed"
	"github.com/vigiahq/vigia/internal/feed/hibptest"
	"github.com/vigiahq/vigia/internal/job"
)

var (
	people = flag.Int64("people", 1_000_000, "watched addresses")
	known  = flag.Float64("known", 0.1, "the share of them that the service knows, each from two breaches")
	others = flag.Int("others", 392, "hashes of others in each range")
)

const key = "made-up"

func main() { load.Main("", load.Part{Name: "walks", Run: measure}) }

func measure(ctx context.Context) {
	s := site.New(ctx, "sqlite")
	filled := load.Time(1, func() { s.FillValues(ctx, s.DB(ctx), *people, "monitorado") })
	fmt.Printf("       %d watched addresses, made in %v\n", *people, filled.Elapsed.Round(time.Second))
	service := standIn()
	server := httptest.NewServer(service)
	load.Defer(server.Close)
	feeds := &feed.Feeds{
		Store: s.Store.Feeds, Breaches: s.Store.Breaches, Jobs: s.Store.Jobs, Importer: s.Leaks.Importer, Now: time.Now,
		Client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: time.Minute},
	}
	load.Must(feeds.Add(ctx, feed.Feed{
		Name: "hibp", Kind: feed.HIBP, Target: server.URL + "/api/v3", Secret: key, Settings: feed.Settings{PerMinute: 1e11, By: feed.ByRange},
	}))
	for _, walk := range []string{"first", "second"} {
		before := service.Calls()
		took := load.Time(1, func() { load.Check(feeds.Run(ctx, &job.Run{Job: job.Job{Subject: "hibp"}})) }).Elapsed
		if f := load.Must(s.Store.Feeds.FeedByName(ctx, "hibp")); f.Failures > 0 {
			load.Fail("the feed failed: %s", f.Error)
		}
		calls := float64(service.Calls() - before)
		fmt.Printf("       %s walk: %.0f calls, %v of ours and the stand-in's together, %.0f us a call; "+
			"at 1,000 calls a minute %.1f h, at 4,000 %.1f h, at 12,000 %.1f h\n", walk, calls, took.Round(time.Second),
			float64(took.Microseconds())/calls, calls/1_000/60, calls/4_000/60, calls/12_000/60)
	}
}

func standIn() *hibptest.Service {
	accounts := map[string][]string{}
	for i := range int64(float64(*people) * *known) {
		accounts[site.Address(i+1)] = []string{"Loja", "Banco"}
	}
	service := &hibptest.Service{Key: key, KAnon: true, Others: *others, Accounts: accounts}
	for _, name := range []string{"Loja", "Banco"} {
		service.Catalogue = append(service.Catalogue, hibptest.Breach{
			Name: name, Title: name + " Exemplo", BreachDate: "2020-01-02", DataClasses: []string{"Email addresses", "Passwords"}, IsVerified: true,
		})
	}
	return service
}
