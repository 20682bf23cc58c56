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
	"sync/atomic"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
)

var people = flag.Int("people", 2000, "subscriptions and watched values of each of four partners before the measurement")

// side is a service over one of the two schemas.
type side struct {
	*site.Service
	db      *sqldb.DB
	ids     []partner.ID
	tenants []load.Server // the API, by partner
	person  atomic.Int64  // the last made-up person
	watched atomic.Int64
}

const tenants = 4

func main() {
	load.Main("seconds=3 c=8", load.Part{Name: "overhead,crossing,rebalance,kill", Run: measure})
}

// restarted is a worker that the script which made it does not know any more; the tables are dropped before it stops.
var restarted *worker

func measure(ctx context.Context) {
	load.Defer(func() {
		if restarted != nil {
			_, _ = restarted.control("stop", "-m", "immediate")
		}
	})
	plain, spread := newSide(ctx, false), newSide(ctx, true)
	for _, step := range []struct {
		name string
		work func(ctx context.Context, plain, spread *side)
	}{{"overhead", overhead}, {"crossing", crossing}, {"rebalance", rebalance}, {"kill", kill}} {
		if load.Wanted(step.name) {
			step.work(ctx, plain, spread)
		}
	}
}

// newSide makes a service with four partners, and people of each.
func newSide(ctx context.Context, spread bool) *side {
	s := &side{Service: site.New(ctx, "postgres")}
	if spread {
		fmt.Printf("%d tables spread\n", load.Must(s.Store.Distribute(ctx)))
	}
	s.db = s.DB(ctx)
	s.Listen(ctx, "api", 32)
	for range tenants {
		p, c := s.NewPartner(ctx, site.NoLimits)
		s.ids, s.tenants = append(s.ids, p.ID), append(s.tenants, load.Server{Addresses: s.Addresses, Header: site.Header(c)})
	}
	load.Parallel(tenants, func(i int) {
		for n := 0; n < *people; n += 1000 {
			s.tenants[i].Ask("POST", "/v1/subscriptions", s.items(1000))
		}
		for range *people {
			s.tenants[i].Ask("POST", "/v1/cyber/monitoring", s.value())
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
func (s *side) value() []byte { return site.Watched(int(s.watched.Add(1))) }

// overhead compares requests of partners, each of which is about one partner and so one machine.
func overhead(ctx context.Context, plain, spread *side) {
	for _, c := range []struct {
		name, path string
		body       func(s *side) []byte // nil for a GET
	}{
		{"create one", "/v1/subscriptions", func(s *side) []byte { return s.items(1) }},
		{"bulk of 100", "/v1/subscriptions", func(s *side) []byte { return s.items(100) }},
		{"list of 100", "/v1/subscriptions?page_size=100", nil},
		{"monitoring", "/v1/cyber/monitoring", (*side).value},
		{"monitoring of a person", fmt.Sprintf("/v1/cyber/monitoring/%064x", 1), nil},
	} {
		run := func(s *side) func() load.Result {
			all := load.Server{Addresses: s.Addresses}
			for _, t := range s.tenants {
				all.Headers = append(all.Headers, t.Header)
			}
			return all.Load(ctx, func() (path string, body []byte) {
				if c.body != nil {
					body = c.body(s)
				}
				return c.path, body
			})
		}
		compare(c.name, run(plain), run(spread))
	}
}

func compare(what string, plain, spread func() load.Result) {
	load.Compare(what, "requests/s", load.Result.Rate, load.Side{Name: "plain", Run: plain}, load.Side{Name: "Citus", Run: spread})
}
