// Command replicas measures what a second replica on the same PostgreSQL brings, and how many bytes a million of each
// thing takes:
//
//	scripts/with-postgres go run ./bench/replicas -seconds 10 -people 100000
//
// Server processes are the real program, built for this run; clients, servers and database share one machine, so the
// ratio between one and two replicas tells where the limit is and not how fast a larger machine would be.
package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/sqldb"
)

var (
	seconds = flag.Int("seconds", 10, "length of each measurement")
	people  = flag.Int("people", 100_000, "subscriptions to create, in requests of 1,000")
	watched = flag.Int("watched", 10_000, "values to watch")
)

// bench is a partner on a database, and the folder in which servers find their keys.
type bench struct {
	config.Common
	program, header string
	db              *sqldb.DB
	person          atomic.Int64
}

func main() {
	load.Main(func(ctx context.Context) {
		folder, remove := load.Folder()
		defer remove()
		b := &bench{Common: config.Common{Data: filepath.Join(folder, "data"), Database: os.Getenv("VIGIA_TEST_POSTGRES")}}
		if b.Database == "" {
			load.Fail("run this under scripts/with-postgres")
		}
		b.header = "X-Api-Key: " + site.Prepare(ctx, b.Data, b.Database)
		b.db = load.Must(sqldb.Open(ctx, b.Database, sqldb.Options{MaxConns: 2}))
		defer func() { _ = b.db.Close() }()
		b.program = site.Build(folder)
		for _, replicas := range []int{1, 2} {
			b.measure(ctx, replicas)
		}
		b.weigh(ctx)
	})
}

// measure sends two kinds of load to a number of replicas.
func (b *bench) measure(ctx context.Context, replicas int) {
	addresses := make([]string, replicas)
	for i := range addresses {
		address, stop := site.Serve(b.program, b.Common, "--roles", "api")
		defer stop()
		addresses[i] = address
	}
	for _, kind := range []struct {
		name, method, path string
		body               func() []byte
	}{
		{"POST /subscriptions, 10 items", "POST", "/v1/subscriptions", func() []byte { return b.items(10) }},
		{"GET /subscriptions, 10 items", "GET", "/v1/subscriptions?page_size=10", func() []byte { return nil }},
	} {
		var waits string
		length := time.Duration(*seconds) * time.Second
		results := make([]load.Result, replicas)
		load.Parallel(replicas+1, func(i int) {
			if i == replicas {
				waits = b.sample(ctx, time.Now().Add(length))
				return
			}
			results[i] = load.Run(ctx, addresses[i], 16/replicas, length, func() []byte {
				return load.Request(kind.method, addresses[i], kind.path, b.header, kind.body())
			})
		})
		done := 0
		for _, r := range results {
			done += r.Requests
		}
		fmt.Printf("%d replicas  %-30s %8.0f requests/s  %s\n", replicas, kind.name, float64(done)/float64(*seconds), waits)
	}
}

// sample looks at what the database's sessions are doing until the time given: the profile of the limit.
func (b *bench) sample(ctx context.Context, until time.Time) string {
	seen, looks := map[string]int{}, 0
	for ; time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		rows := load.Must(b.db.Reader().QueryContext(ctx, `SELECT coalesce(wait_event, 'CPU') FROM pg_stat_activity
			WHERE application_name = 'vigia' AND state <> 'idle' AND pid <> pg_backend_pid()`))
		for rows.Next() {
			var what string
			load.Check(rows.Scan(&what))
			seen[what]++
		}
		load.Check(rows.Err(), rows.Close())
		looks++
	}
	names := slices.SortedFunc(maps.Keys(seen), func(a, b string) int { return seen[b] - seen[a] })
	var list []string
	for _, n := range names[:min(4, len(names))] {
		list = append(list, fmt.Sprintf("%s %.1f", n, float64(seen[n])/float64(max(looks, 1))))
	}
	return "sessions on average: " + strings.Join(list, ", ")
}

// items are subscriptions of people who have none yet.
func (b *bench) items(n int) []byte {
	last := int(b.person.Add(int64(n)))
	return site.Items(last-n+1, last+1, site.Item)
}

// weigh fills the tables and tells their size, indexes included, as bytes of each row.
func (b *bench) weigh(ctx context.Context) {
	address, stop := site.Serve(b.program, b.Common, "--roles", "api")
	defer stop()
	for range *people / 1000 {
		load.Ask("POST", address, "/v1/subscriptions", b.header, b.items(1000))
	}
	load.Parallel(8, func(w int) {
		for i := w; i < *watched; i += 8 {
			load.Ask("POST", address, "/v1/cyber/monitoring", b.header, fmt.Appendf(nil, `{"value":"pessoa%d@exemplo.com.br","type":"email","userHash":"%064x"}`, i, i+1))
		}
	})
	for _, tables := range [][]string{{"subscription", "subscription_block", "person"}, {"asset", "asset_history"}} {
		var size, rows, s, n int64
		for i, table := range tables {
			load.Check(b.db.Reader().QueryRowContext(ctx, `SELECT pg_total_relation_size('`+table+`'), (SELECT count(*) FROM `+table+`)`).Scan(&s, &n))
			if size += s; i == 0 {
				rows = n
			}
		}
		fmt.Printf("%-45s %9d rows  %6.0f bytes a row\n", strings.Join(tables, "+"), rows, float64(size)/float64(max(rows, 1)))
	}
}
