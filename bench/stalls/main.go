// Command stalls measures how long a single write waits on SQLite while an import, a backup, a rotation of keys and a
// sweep run one after the other: p50, p99 and the longest of a POST of one subscription through the API, and the longest
// time for which a transaction held the writer. The bar is a p99 of 50 ms in each of them.
package main

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/store"
)

var (
	rows  = flag.Int("rows", 1_000_000, "subscriptions that are imported, copied, sealed anew and swept")
	pause = flag.Duration("pause", 5*time.Millisecond, "between two single writes")
	bar   = flag.Duration("bar", 50*time.Millisecond, "what the p99 of a single write has to stay under")
)

// bench is a service, and the single writes that go on beside all steps.
type bench struct {
	*site.Service
	written int // people of single writes, numbered from the top
	longest atomic.Int64
}

func main() { load.Main("", load.Part{Name: "import,backup,rotation,sweep", Run: measure}) }

func measure(ctx context.Context) {
	b := &bench{Service: site.New(ctx, "sqlite")}
	b.Listen(ctx, "api", 8)
	load.Check(b.Store.WatchWriter(ctx, b.held))
	fmt.Printf("single writes every %v while %d rows are worked on\n", *pause, *rows)
	b.during("nothing else", func() { time.Sleep(3 * time.Second) })
	step := func(name string, work func()) {
		if load.Wanted(name) {
			b.during(name, work)
		}
	}
	all := func(what string, done int64) {
		if done < int64(*rows) {
			load.Fail("%s %d of %d", what, done, *rows)
		}
	}
	step("import", func() { b.Import(ctx, *rows) }) // all others work on what it left
	step("backup", func() {
		load.Must(b.WriteBackup(ctx, load.File("backup.tar.gz"), app.BackupOptions{WithoutCorpora: true}))
	})
	step("rotation", func() { load.Check(b.Keys.RotateKey()); all("sealed", site.SealAnew(ctx, b.Store)) })
	if load.Wanted("sweep") {
		b.endAll(ctx)
	}
	step("sweep", func() {
		all("swept", load.Must(b.Store.Upkeep.SweepExpired(ctx, store.Retention{Subscriptions: time.Hour}))["subscriptions"])
	})
}

func (b *bench) held(d time.Duration) {
	for now := b.longest.Load(); int64(d) > now && !b.longest.CompareAndSwap(now, int64(d)); now = b.longest.Load() {
	}
}

// during writes single subscriptions until work is done, and prints how long each took.
func (b *bench) during(name string, work func()) {
	b.longest.Store(0)
	var took []time.Duration
	all := load.Time(1, func() {
		load.Beside(work, 1, func(int) {
			b.written++
			body := site.Items(400_000_000+b.written, 400_000_001+b.written, site.Item)
			took = append(took, load.Time(1, func() { b.Ask("POST", "/v1/subscriptions", body) }).Elapsed)
			time.Sleep(*pause)
		})
	})
	unit, p99 := 10*time.Microsecond, load.Percentile(took, 99)
	load.Bar(p99 <= *bar, "%-13s %8v  %6d writes: p50 %7v  p99 %7v  longest %7v; the writer was held for %7v at most", name,
		all.Elapsed.Round(time.Millisecond), len(took), load.Median(took).Round(unit), p99.Round(unit), slices.Max(took).Round(unit),
		time.Duration(b.longest.Load()).Round(unit))
}

// endAll makes every imported subscription one that has ended long ago.
func (b *bench) endAll(ctx context.Context) {
	db := b.DB(ctx)
	last := site.Count(ctx, db, `SELECT max(seq) FROM subscription`)
	for from := int64(0); from < last; from += 10_000 {
		site.Exec(ctx, db, `UPDATE subscription SET ended_at = 1 WHERE partner_id = $1 AND seq > $2 AND seq <= $3`,
			b.Partner.ID.Number(), from, from+10_000)
	}
}
