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
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/webhook"
)

var (
	engine  = flag.String("engine", "", "sqlite or postgres; both unless given")
	only    = flag.String("only", "", "rate, first or dead; all unless given")
	rounds  = flag.Int("rounds", 5, "rounds of each side, taken in turns")
	events  = flag.Int("n", 10_000, "events of a round")
	conns   = flag.Int("c", 32, "connections")
	probes  = flag.Int("probes", 400, "events whose way is timed")
	profile = flag.String("cpuprofile", "", "write a profile of the rate part here")
)

func main() {
	load.Main(func(ctx context.Context) {
		for _, e := range site.Engines(*engine) {
			for _, part := range []struct {
				name string
				run  func(context.Context, string, *site.Site)
			}{{"rate", rate}, {"first", firstAttempt}, {"dead", deadEndpoint}} {
				if *only == "" || *only == part.name {
					s := site.Open(ctx, e)
					err := load.Try(func() { part.run(ctx, e, s) })
					s.Close()
					load.Check(err)
				}
			}
		}
	})
}

func readAll(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.WriteHeader(http.StatusNoContent)
}

// rate compares the dispatcher with a plain loop.
func rate(ctx context.Context, engine string, s *site.Site) {
	receiver := httptest.NewServer(http.HandlerFunc(readAll))
	defer receiver.Close()
	endpoint := load.Must(s.Endpoints.Create(ctx, s.Partner, receiver.URL, nil, site.Guard))
	stop := load.Profile(*profile)
	took := load.Turns(*rounds, func() load.Result { return plainRate(ctx, endpoint) }, func() load.Result { return dispatchRate(ctx, s) })
	stop()
	p, d := load.Median(took[0].Rates()), load.Median(took[1].Rates())
	fmt.Printf("%-8s rate, %d connections: plain loop %6.0f/s, deliveries %6.0f/s, ratio %.2f (medians of %d; rounds %.2f); CPU each, receiver included: %v and %v\n",
		engine, *conns, p, d, d/p, *rounds, load.Ratios(took[1], took[0]), took[0].Cheapest(), took[1].Cheapest())
}

// plainRate signs and posts in a loop.
func plainRate(ctx context.Context, e alert.Endpoint) load.Result {
	client := site.Guard.Client(webhook.ClientOptions{MaxIdlePerHost: *conns})
	defer client.CloseIdleConnections()
	list := make([]alert.Event, *events)
	for i := range list {
		list[i] = site.NewEvent(e.Partner, i)
	}
	var next atomic.Int64
	return load.Time(*events, func() {
		load.Parallel(*conns, func(int) {
			for i := next.Add(1) - 1; i < int64(len(list)); i = next.Add(1) - 1 {
				now := time.Now()
				outcome := webhook.Send(ctx, client, webhook.Attempt{
					URL: e.URL, EventID: string(list[i].ID), At: now, Body: load.Must(list[i].Body()), Keys: e.Keys.Live(now),
				})
				if outcome.Status != http.StatusNoContent {
					load.Fail("a plain post failed: %+v", outcome)
				}
			}
		})
	})
}

// dispatchRate delivers events that wait, from claimed rows to recorded ones.
func dispatchRate(ctx context.Context, s *site.Site) load.Result {
	s.Publish(ctx, s.Partner, *events)
	var stop func()
	defer func() { stop() }()
	return load.Time(*events, func() {
		stop = s.Dispatch(*conns)
		for s.Waiting(ctx) {
			time.Sleep(20 * time.Millisecond)
		}
	})
}
