// Command citus measures what it costs to spread partners over machines, and what happens when one of them dies or
// rows move:
//
//	PG_BIN=/usr/lib/postgresql/17/bin scripts/with-citus go run ./bench/citus -rounds 5 -seconds 3
//
// The two sides are two schemas of one coordinator: one whose tables are spread over two workers, and one whose tables
// stay where they are, which is plain PostgreSQL. They take turns. Coordinator, workers, service and clients share one
// machine, so that a second machine's processors are not in the figures: what is measured is the price alone.
package main

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
)

var (
	rounds  = flag.Int("rounds", 5, "turns of each measurement")
	seconds = flag.Float64("seconds", 3, "length of each turn")
	conns   = flag.Int("conns", 8, "connections that ask at once")
	people  = flag.Int("people", 2000, "subscriptions and watched values of each of four partners before the measurement")
	only    = flag.String("only", "", "overhead, crossing, kill or rebalance; empty: all, in this order")
)

// tenant is a partner of a side.
type tenant struct {
	id     partner.ID
	header string
}

// side is a service over one of the two schemas.
type side struct {
	*site.Service
	tenants []tenant
	person  atomic.Int64 // the last made-up person
	watched atomic.Int64
}

const tenants = 4

func main() {
	load.Main(func(ctx context.Context) {
		folder, remove := load.Folder()
		defer remove()
		defer func() {
			for _, w := range restarted {
				w.stop()
			}
		}()
		plain, spread := newSide(ctx, filepath.Join(folder, "plain"), false), newSide(ctx, filepath.Join(folder, "spread"), true)
		defer plain.Close()
		defer spread.Close()
		for _, run := range []struct {
			name string
			work func()
		}{
			{"overhead", func() { overhead(ctx, plain, spread) }},
			{"crossing", func() { crossing(ctx, plain, spread) }},
			{"rebalance", func() { rebalance(ctx, spread) }},
			{"kill", func() { kill(ctx, spread) }},
		} {
			if *only == "" || *only == run.name {
				run.work()
			}
		}
	})
}

// newSide makes a service with four partners, and people of each.
func newSide(ctx context.Context, folder string, spread bool) *side {
	s := &side{Service: site.NewService(ctx, folder, "postgres")}
	if spread {
		fmt.Printf("%d tables spread\n", load.Must(s.Store.Distribute(ctx)))
	}
	s.tenants = []tenant{{s.Partner.ID, s.Header()}}
	for len(s.tenants) < tenants {
		p, c, err := s.Partners.Create(ctx, "Banco", partner.Live, partner.Settings{
			RatePerSecond: 1_000_000, Burst: 1_000_000, AssetsPerHour: 1_000_000_000, AssetsPerDay: 1_000_000_000, UnknownPeople: 1_000_000_000,
		})
		load.Check(err)
		load.Must(s.Plans.Create(ctx, plan.Plan{ID: site.Plan, Partner: p.ID, Name: "Ouro", Coverage: plan.Demo()}))
		s.tenants = append(s.tenants, tenant{p.ID, "X-Api-Key: " + c.APIKey})
	}
	s.Listen(ctx, "api", 32)
	load.Parallel(tenants, func(i int) {
		for n := 0; n < *people; n += 1000 {
			load.Ask("POST", s.API, "/v1/subscriptions", s.tenants[i].header, s.items(1000))
		}
		for n := 0; n < *people; n++ {
			load.Ask("POST", s.API, "/v1/cyber/monitoring", s.tenants[i].header, s.value())
		}
	})
	return s
}

// items are subscriptions of people who have none yet.
func (s *side) items(n int) []byte {
	last := int(s.person.Add(int64(n)))
	return site.Items(last-n+1, last+1, site.Item)
}

// value is a watched value that nobody watches yet.
func (s *side) value() []byte {
	n := s.watched.Add(1)
	return fmt.Appendf(nil, `{"value":"pessoa%d@exemplo.com.br","type":"email","userHash":"%064x"}`, n, n)
}

// overhead compares requests of partners, each of which is about one partner and so one machine.
func overhead(ctx context.Context, plain, spread *side) {
	fmt.Printf("%-28s %12s %12s %8s   %s\n", "", "plain/s", "Citus/s", "ratio", "ratios of all turns, plain/Citus p50")
	for _, kind := range []struct {
		name, method string
		path         func(s *side) string
		body         func(s *side) []byte
	}{
		{"create one", "POST", func(*side) string { return "/v1/subscriptions" }, func(s *side) []byte { return s.items(1) }},
		{"bulk of 100", "POST", func(*side) string { return "/v1/subscriptions" }, func(s *side) []byte { return s.items(100) }},
		{"list of 100", "GET", func(*side) string { return "/v1/subscriptions?page_size=100" }, nil},
		{"monitoring", "POST", func(*side) string { return "/v1/cyber/monitoring" }, (*side).value},
		{"monitoring of a person", "GET", func(*side) string { return fmt.Sprintf("/v1/cyber/monitoring/%064x", 1) }, nil},
	} {
		turn := func(s *side) func() load.Result {
			var next atomic.Int64
			return func() load.Result {
				return load.Run(ctx, s.API, *conns, time.Duration(*seconds*float64(time.Second)), func() []byte {
					var body []byte
					if kind.body != nil {
						body = kind.body(s)
					}
					return load.Request(kind.method, s.API, kind.path(s), s.tenants[next.Add(1)%tenants].header, body)
				})
			}
		}
		seen := load.Turns(*rounds, turn(plain), turn(spread))
		ratios := load.Ratios(seen[1], seen[0])
		fmt.Printf("%-28s %12.0f %12.0f %8.2f   %.2f  %v / %v\n", kind.name, load.Median(seen[0].Rates()), load.Median(seen[1].Rates()),
			load.Median(ratios), ratios, middle(seen[0]), middle(seen[1]))
	}
}

// middle is the middle of the turns' middle times.
func middle(r load.Rounds) time.Duration {
	var list []time.Duration
	for _, one := range r {
		list = append(list, one.P50)
	}
	slices.Sort(list)
	return list[len(list)/2].Round(10 * time.Microsecond)
}
