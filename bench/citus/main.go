// Command citus measures what it costs to spread partners over machines, and what happens when one of them dies or
// rows move:
//
//	PG_BIN=/usr/lib/postgresql/17/bin scripts/with-citus go run ./bench/citus -rounds 5 -seconds 3
//
// The two sides are two schemas of one coordinator: one whose tables are spread over two workers, and one whose tables
// stay where they are, which is plain PostgreSQL. They take turns. The spread side has a service on every node, and a
// partner is asked for by way of the coordinator and by way of the node that holds its rows. Nodes, services and
// clients share one machine, so that a second machine's processors are not in the figures: what is measured is the
// price alone.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

var people = flag.Int(
	"people",
	2000,
	"subscriptions and watched values of each of four partners before the measurement",
)

// side is a service over one of the two schemas.
type side struct {
	*site.Service
	db      *sqldb.DB
	ids     []partner.ID
	tenants []load.Server // the API, by partner, at the node that holds its rows
	homes   load.Server   // all of tenants
	person  atomic.Int64  // the last made-up person
	watched atomic.Int64
}

const tenants = 4

// restarted are nodes that the script which made them does not know any more; the tables are dropped before they stop.
var restarted []*node

func main() {
	spread := sync.OnceValue(func() *side { // what all steps measure
		load.Defer(func() {
			for _, n := range restarted {
				_, _ = n.control("stop", "-m", "immediate")
			}
		})
		return newSide(context.Background(), true)
	})
	step := func(name string, work func(ctx context.Context, s *side)) load.Step {
		return load.Step{Name: name, Run: func(ctx context.Context) { work(ctx, spread()) }}
	}
	load.Main("seconds=3 c=8", step("overhead", overhead), step("rebalance", rebalance), step("kill", killWorker),
		step("coordinator", killCoordinator))
}

// newSide makes a service with four partners, and people of each. The replicas at the workers are opened when the
// people are there and their tables analyzed, as in an operator's cluster: Citus keeps a session's plan of a shard as
// it was made first, and one made for an empty table reads the whole of it.
func newSide(ctx context.Context, spread bool) *side {
	s := &side{Service: site.New(ctx, "postgres")}
	s.db = s.DB(ctx)
	s.Listen(ctx, "api", 32)
	if spread {
		fmt.Printf("%d tables spread\n", load.Must(s.Store.Distribute(ctx)))
	}
	for range tenants {
		p, c := s.NewPartner(ctx, site.NoLimits)
		s.ids, s.Headers = append(s.ids, p.ID), append(s.Headers, site.Header(c))
	}
	load.Parallel(tenants, func(i int) {
		at := load.Server{Addresses: s.Addresses, Header: s.Headers[i]}
		for n := 0; n < *people; n += 1000 {
			at.Ask("POST", "/v1/subscriptions", s.items(1000))
		}
		for range *people {
			at.Ask("POST", "/v1/cyber/monitoring", s.value())
		}
	})
	site.Exec(ctx, s.db, `ANALYZE`)
	replicas := map[int64]string{} // by the port of their node
	if spread {
		for _, worker := range workers() {
			c, at := s.Common, load.Must(url.Parse(s.Database))
			at.Host = worker.Host
			c.Database = at.String()
			replica := site.Open(ctx, c)
			replica.Listen(ctx, "api", 32)
			replicas[load.Must(strconv.ParseInt(worker.Port(), 10, 64))] = replica.Addresses[0]
		}
	}
	for i, id := range s.ids {
		home := s.Addresses[0]
		if spread {
			home = replicas[site.Count(ctx, s.db, `SELECT nodeport FROM citus_shards WHERE table_name = 'subscription'::regclass
				AND shardid = get_shard_id_for_distribution_column('subscription', $1::integer)`, id.Number())]
		}
		s.tenants = append(s.tenants, load.Server{Addresses: []string{home}, Header: s.Headers[i]})
		s.homes.Addresses = append(s.homes.Addresses, home)
	}
	s.homes.Headers = s.Headers
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
func overhead(ctx context.Context, spread *side) {
	plain := newSide(ctx, false)
	for _, c := range []struct {
		name, path string
		body       func(s *side) []byte // nil for a GET
		least      float64
	}{
		{"create one", "/v1/subscriptions", func(s *side) []byte { return s.items(1) }, 0.5},
		{"bulk of 100", "/v1/subscriptions", func(s *side) []byte { return s.items(100) }, 0},
		{"list of 100", "/v1/subscriptions?page_size=100", nil, 0},
		{"monitoring", "/v1/cyber/monitoring", (*side).value, 0.5},
		{"monitoring of a person", fmt.Sprintf("/v1/cyber/monitoring/%064x", 1), nil, 0.5},
	} {
		run := func(s *side, at load.Server) func() load.Result {
			return at.Load(ctx, func() (path string, body []byte) {
				if c.body != nil {
					body = c.body(s)
				}
				return c.path, body
			})
		}
		load.Compare(
			c.name,
			"requests/s",
			load.Side{Name: "plain", Run: run(plain, plain.Server)},
			load.Side{Name: "the coordinator", Run: run(spread, spread.Server)},
			load.Side{Name: "the partner's node", Run: run(spread, spread.homes), Least: c.least},
		)
	}
}
