// Command replicas measures what a second replica on the same PostgreSQL brings, and how many bytes a million of each
// thing takes:
//
//	scripts/with-postgres go run ./bench/replicas -seconds 10 -people 100000
//
// Server processes are the real program, built for this run; clients, servers and database share one machine, so the
// ratio between one and two replicas tells where the limit is and not how fast a larger machine would be.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/sqldb"
)

func main() {
	seconds := flag.Int("seconds", 10, "length of each measurement")
	people := flag.Int("people", 100_000, "subscriptions to create, in requests of 1,000")
	watched := flag.Int("watched", 10_000, "values to watch")
	flag.Parse()
	if err := run(*seconds, *people, *watched); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// bench is a partner on a database, and the folder in which servers find their keys.
type bench struct {
	folder, database, key string
	db                    *sqldb.DB
	person                atomic.Int64
}

func run(seconds, people, watched int) (err error) {
	b := &bench{database: os.Getenv("VIGIA_TEST_POSTGRES")}
	if b.database == "" {
		return errors.New("run this under scripts/with-postgres")
	}
	if b.folder, err = os.MkdirTemp("", "vigia-bench"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.folder)) }()
	if err := b.prepare(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.db.Close()) }()
	program, err := site.Build(b.folder)
	if err != nil {
		return err
	}
	for _, replicas := range []int{1, 2} {
		if err := b.measure(program, replicas, seconds); err != nil {
			return err
		}
	}
	return b.weigh(program, people, watched)
}

func (b *bench) prepare() (err error) {
	ctx := context.Background()
	if b.key, err = site.Prepare(ctx, filepath.Join(b.folder, "data"), b.database); err != nil {
		return err
	}
	b.db, err = sqldb.Open(ctx, b.database, sqldb.Options{MaxConns: 2})
	return err
}

// start runs servers and returns their addresses and how to stop them.
func (b *bench) start(program string, n int) (urls []string, stop func(), err error) {
	var stops []func()
	stop = func() {
		for _, s := range stops {
			s()
		}
	}
	for range n {
		address, one, err := site.Serve(program, filepath.Join(b.folder, "data"), b.database)
		if err != nil {
			return nil, stop, err
		}
		stops = append(stops, one)
		urls = append(urls, "http://"+address)
	}
	return urls, stop, nil
}

// measure sends two kinds of load to a number of replicas.
func (b *bench) measure(program string, replicas, seconds int) error {
	urls, stop, err := b.start(program, replicas)
	defer stop()
	if err != nil {
		return err
	}
	read := func(url string) error { return b.ask(http.MethodGet, url+"/v1/subscriptions?page_size=10", "") }
	write := func(url string) error { return b.ask(http.MethodPost, url+"/v1/subscriptions", b.items(10)) }
	for _, load := range []struct {
		name string
		do   func(string) error
	}{{"POST /subscriptions, 10 items", write}, {"GET /subscriptions, 10 items", read}} {
		var done atomic.Int64
		var wg sync.WaitGroup
		var failed atomic.Pointer[error]
		until := time.Now().Add(time.Duration(seconds) * time.Second)
		for i := range 16 {
			wg.Go(func() {
				for time.Now().Before(until) {
					if err := load.do(urls[i%len(urls)]); err != nil {
						failed.Store(&err)
						return
					}
					done.Add(1)
				}
			})
		}
		waits := b.sample(until)
		wg.Wait()
		if err := failed.Load(); err != nil {
			return *err
		}
		fmt.Printf("%d replicas  %-30s %8.0f requests/s  %s\n", replicas, load.name, float64(done.Load())/float64(seconds), waits)
	}
	return nil
}

// sample looks at what the database's sessions are doing until the time given: the profile of the limit.
func (b *bench) sample(until time.Time) string {
	seen, looks := map[string]int{}, 0
	for ; time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		rows, err := b.db.Reader().QueryContext(context.Background(), `SELECT coalesce(wait_event, 'CPU') FROM pg_stat_activity
			WHERE application_name = 'vigia' AND state <> 'idle' AND pid <> pg_backend_pid()`)
		if err != nil {
			continue
		}
		for rows.Next() {
			var what string
			if rows.Scan(&what) == nil {
				seen[what]++
			}
		}
		_ = rows.Close()
		looks++
	}
	names := slices.SortedFunc(maps.Keys(seen), func(a, b string) int { return seen[b] - seen[a] })
	var list []string
	for _, n := range names[:min(4, len(names))] {
		list = append(list, fmt.Sprintf("%s %.1f", n, float64(seen[n])/float64(max(looks, 1))))
	}
	return "sessions on average: " + strings.Join(list, ", ")
}

func (b *bench) ask(method, url, body string) error {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("x-api-key", b.key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || bytes.Contains(text, []byte(`"failure"`)) {
		return fmt.Errorf("%s: %d %.200s %w", method, res.StatusCode, text, err)
	}
	return nil
}

// items are subscriptions of people who have none yet.
func (b *bench) items(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = site.Item(b.person.Add(1))
	}
	return "[" + strings.Join(list, ",") + "]"
}

// weigh fills the tables and tells their size, indexes included, as bytes of each row.
func (b *bench) weigh(program string, people, watched int) error {
	urls, stop, err := b.start(program, 1)
	defer stop()
	if err != nil {
		return err
	}
	for range people / 1000 {
		if err := b.ask(http.MethodPost, urls[0]+"/v1/subscriptions", b.items(1000)); err != nil {
			return err
		}
	}
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for w := range errs {
		wg.Go(func() {
			for i := w; i < watched && errs[w] == nil; i += len(errs) {
				body := fmt.Sprintf(`{"value":"pessoa%d@exemplo.com.br","type":"email","userHash":"%064x"}`, i, i+1)
				errs[w] = b.ask(http.MethodPost, urls[0]+"/v1/cyber/monitoring", body)
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, tables := range [][]string{{"subscription", "subscription_block", "person"}, {"asset", "asset_history"}} {
		var size, rows int64
		for i, table := range tables {
			var s, n int64
			err := b.db.Reader().QueryRowContext(context.Background(), `SELECT pg_total_relation_size('`+table+`'), (SELECT count(*) FROM `+table+`)`).Scan(&s, &n)
			if err != nil {
				return err
			}
			size += s
			if i == 0 {
				rows = n
			}
		}
		fmt.Printf("%-45s %9d rows  %6.0f bytes a row\n", strings.Join(tables, "+"), rows, float64(size)/float64(max(rows, 1)))
	}
	return nil
}
