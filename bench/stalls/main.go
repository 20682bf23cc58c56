// Command stalls measures how long a single write waits on SQLite while an import, a backup, a rotation of keys and a
// sweep run one after the other: p50, p99 and the longest of a POST of one subscription through the API, and the longest
// time for which a transaction held the writer. The bar is a p99 of 50 ms in each of them.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/draft"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/subscription"
)

var (
	rows    = flag.Int("rows", 1_000_000, "subscriptions that are imported, copied, sealed anew and swept")
	pause   = flag.Duration("pause", 5*time.Millisecond, "between two single writes")
	bar     = flag.Duration("bar", 50*time.Millisecond, "what the p99 of a single write has to stay under")
	profile = flag.String("cpuprofile", "", "write a profile here")
)

func main() {
	load.Main(func(ctx context.Context) {
		defer load.Profile(*profile)()
		folder := load.Must(os.MkdirTemp("", "vigia-stalls-"))
		defer func() { load.Check(os.RemoveAll(folder)) }()
		s := site.NewService(ctx, filepath.Join(folder, "data"), "sqlite")
		defer s.Close()
		s.Listen(ctx, "api", 8)
		b := &bench{Service: s, folder: folder}
		load.Check(s.Store.WatchWriter(ctx, b.held))
		fmt.Printf("single writes every %v while %d rows are worked on\n", *pause, *rows)
		b.during("nothing else", func() { time.Sleep(3 * time.Second) })
		b.during("import", func() { b.importPeople(ctx) })
		b.during("backup", func() {
			load.Must(s.Backup(ctx, filepath.Join(folder, "backup.tar.gz"), app.BackupOptions{WithoutCorpora: true}))
		})
		b.during("rotation", func() { b.rotate(ctx) })
		b.endAll(ctx)
		b.during("sweep", func() {
			removed := load.Must(s.Store.Upkeep.Sweep(ctx, store.Retention{Subscriptions: time.Hour}))
			if removed["subscriptions"] < int64(*rows) {
				load.Fail("swept %d of %d", removed["subscriptions"], *rows)
			}
		})
	})
}

type bench struct {
	*site.Service
	folder  string
	written int // people of single writes, numbered from the top
	longest atomic.Int64
}

func (b *bench) held(d time.Duration) {
	for {
		now := b.longest.Load()
		if int64(d) <= now || b.longest.CompareAndSwap(now, int64(d)) {
			return
		}
	}
}

// during writes single subscriptions until work is done, and prints how long each took.
func (b *bench) during(name string, work func()) {
	b.longest.Store(0)
	stop := make(chan struct{})
	var took []time.Duration
	var wg sync.WaitGroup
	var failed error
	wg.Go(func() {
		failed = load.Try(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(*pause):
				}
				b.written++
				body := site.Items(400_000_000+b.written, 400_000_001+b.written, site.Item)
				began := time.Now()
				b.Ask("POST", "/v1/subscriptions", body)
				took = append(took, time.Since(began))
			}
		})
	})
	began := time.Now()
	work()
	all := time.Since(began)
	close(stop)
	wg.Wait()
	load.Check(failed)
	slices.Sort(took)
	at := func(part float64) time.Duration { return took[int(part*float64(len(took)-1))] }
	verdict := "ok"
	if at(.99) > *bar {
		verdict = "MISSED"
	}
	fmt.Printf("%-13s %8v  %6d writes: p50 %7v  p99 %7v  longest %7v; the writer was held for %7v at most  %s\n", name, all.Round(time.Millisecond), len(took),
		at(.5).Round(10*time.Microsecond), at(.99).Round(10*time.Microsecond), took[len(took)-1].Round(10*time.Microsecond),
		time.Duration(b.longest.Load()).Round(10*time.Microsecond), verdict)
}

func (b *bench) importPeople(ctx context.Context) {
	in, out := io.Pipe()
	go func() {
		var text bytes.Buffer
		for n := range *rows {
			text.WriteString(site.Item(n))
			text.WriteByte('\n')
			if text.Len() > 1<<16 || n == *rows-1 {
				if _, err := out.Write(text.Bytes()); err != nil {
					return
				}
				text.Reset()
			}
		}
		_ = out.Close()
	}()
	report := load.Must(b.Subscriptions.Import(ctx, b.Partner, draft.NewJSONLines(in), false,
		func(r subscription.Reject) error { return fmt.Errorf("%+v", r) }, func(subscription.ImportReport) {}))
	if report.Created != *rows {
		load.Fail("imported %+v", report)
	}
}

func (b *bench) rotate(ctx context.Context) {
	load.Check(b.Keys.Rotate())
	var p store.RewriteProgress
	for !load.Must(b.Store.Upkeep.RewriteSealed(ctx, &p, 500)) {
	}
	if p.Rewritten < int64(*rows) {
		load.Fail("sealed %d of %d anew", p.Rewritten, *rows)
	}
}

// endAll makes every imported subscription one that has ended long ago.
func (b *bench) endAll(ctx context.Context) {
	db := load.Must(sqldb.Open(ctx, filepath.Join(b.Data, "vigia.db"), sqldb.Options{}))
	defer func() { load.Check(db.Close()) }()
	for from := int64(0); ; from += 10_000 {
		var left bool
		load.Check(db.Reader().QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM subscription WHERE seq > $1)`, from).Scan(&left))
		if !left {
			return
		}
		site.Exec(ctx, db, `UPDATE subscription SET ended_at = 1 WHERE partner_id = $1 AND seq > $2 AND seq <= $3`, b.Partner.ID.Number(), from, from+10_000)
	}
}
