package sqldb

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/platform/gatetest"
	"github.com/vigiahq/vigia/internal/platform/polltest"
)

// TestQueueSharesACommit: of those who wait for one row on PostgreSQL all but the first share a few transactions; one
// that fails takes nobody along.
func TestQueueSharesACommit(t *testing.T) {
	ctx := context.Background()
	address := gatetest.Postgres(t)
	d, err := OpenDatabase(ctx, address, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	table := fmt.Sprintf("queue_%d", time.Now().UnixNano())
	exec := func(tx *Tx, text string, args ...any) error { _, err := tx.ExecContext(ctx, text, args...); return err }
	must := func(text string) {
		if err := d.InTransaction(ctx, func(tx *Tx) error { return exec(tx, text) }); err != nil {
			t.Fatal(err)
		}
	}
	must(`CREATE TABLE ` + table + ` (n BIGINT PRIMARY KEY, x BIGINT NOT NULL)`)
	t.Cleanup(func() { must(`DROP TABLE ` + table) })
	must(`INSERT INTO ` + table + ` VALUES (-1, 0)`)
	const callers, rows = 12, chunkRows + 10
	lock := func(tx *Tx) error { return exec(tx, `UPDATE `+table+` SET x = x + 1 WHERE n = -1`) }
	before, errNo := d.commits.Load(), errors.New("no")
	results := make([]error, callers)
	var wg sync.WaitGroup
	var ran atomic.Int64
	err = d.InTransaction(ctx, func(tx *Tx) error {
		if err := lock(tx); err != nil {
			return err
		}
		for i := range callers {
			wg.Go(func() {
				results[i] = d.InNamedQueue(ctx, "x", false, func(tx *Tx) error {
					ran.Add(1)
					if err := lock(tx); err != nil {
						return err
					}
					n := 0
					added, err := tx.LoadMissing(ctx, table, []string{"n", "x"}, "n", func() ([]any, error) {
						if n++; n > rows {
							return nil, nil
						}
						return []any{int64(i*rows + n), int64(i)}, nil
					})
					if err == nil && len(added) != rows {
						err = fmt.Errorf("%d rows went in", len(added))
					}
					if i == 3 {
						err = errNo
					}
					return err
				})
			})
			if i == 0 { // alone, so that the others wait for it
				polltest.Until(t, "the first caller runs", func() bool { return ran.Load() > 0 })
			}
		}
		awaitQueue(d, callers-1)
		return nil
	})
	wg.Wait()
	if err != nil {
		t.Fatal(err)
	}
	for i, err := range results {
		if i == 3 != errors.Is(err, errNo) || i != 3 && err != nil {
			t.Errorf("caller %d: %v", i, err)
		}
	}
	var kept, locked int64
	if err := d.ReadPool().QueryRowContext(ctx, `SELECT count(*) - 1, max(x) FILTER (WHERE n = -1) FROM `+table).Scan(&kept, &locked); err != nil {
		t.Fatal(err)
	}
	if kept != (callers-1)*rows || locked != callers {
		t.Errorf("%d rows are kept, %d were here", kept, locked)
	}
	if commits := d.commits.Load() - before; commits > 3 { // the one that held the row, the first, and all others
		t.Errorf("%d commits for %d that waited together", commits, callers)
	}
	if len(d.queues.used) != 0 {
		t.Error("a queue is left:", d.queues.used)
	}
}

// awaitQueue waits until the first caller is at work and so many wait for it.
func awaitQueue(d *DB, waiting int) {
	for ; ; time.Sleep(time.Millisecond) {
		d.queues.mu.Lock()
		q := d.queues.used["x"]
		d.queues.mu.Unlock()
		if q != nil {
			q.mu.Lock()
			n := len(q.waiting)
			q.mu.Unlock()
			if n == waiting {
				return
			}
		}
	}
}

// TestQueueSharesATimeout: callers that wait together for a row which does not come free fail together. Each waiting as
// long as the first would keep the last waiting for minutes.
func TestQueueSharesATimeout(t *testing.T) {
	for name, deadline := range map[string]bool{"lock timeout": false, "deadline": true} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			d, err := OpenDatabase(ctx, gatetest.Postgres(t)+"&lock_timeout=300", Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = d.Close() })
			table := fmt.Sprintf("queue_%d", time.Now().UnixNano())
			for _, text := range []string{`CREATE TABLE ` + table + ` (n BIGINT PRIMARY KEY)`, `INSERT INTO ` + table + ` VALUES (1)`} {
				if _, err := d.write.ExecContext(ctx, text); err != nil {
					t.Fatal(err)
				}
			}
			t.Cleanup(func() { _, _ = d.write.ExecContext(ctx, `DROP TABLE `+table) })
			lock := func(ctx context.Context, tx *Tx) error {
				_, err := tx.ExecContext(ctx, `UPDATE `+table+` SET n = n`)
				return err
			}
			const callers = 12
			var ran atomic.Int64
			results := make([]error, callers)
			err = d.InTransaction(ctx, func(tx *Tx) error {
				if err := lock(ctx, tx); err != nil {
					return err
				}
				waits := ctx
				if deadline {
					var cancel context.CancelFunc
					waits, cancel = context.WithTimeout(ctx, 200*time.Millisecond)
					defer cancel()
				}
				var wg sync.WaitGroup
				for i := range callers {
					wg.Go(func() {
						results[i] = d.InNamedQueue(waits, "x", false, func(tx *Tx) error {
							if ran.Add(1) == 1 && !deadline {
								awaitQueue(d, callers-1)
							}
							return lock(waits, tx)
						})
					})
					if i == 0 { // alone, so that the others wait for it
						polltest.Until(t, "the first caller runs", func() bool {
							return ran.Load() > 0 || waits.Err() != nil
						})
					}
				}
				wg.Wait()
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for i, err := range results {
				if !IsUnavailable(err) {
					t.Errorf("caller %d: %v", i, err)
				}
			}
			most := int64(2) // the first, and the first of those who waited for it
			if !deadline {   // a lock is waited for more than once
				most *= lockTries
			}
			if ran.Load() > most {
				t.Errorf("%d of %d waited for the row", ran.Load(), callers)
			}
		})
	}
}

// TestScrubWaits: a vacuum that is bound by the limits of ordinary statements never ends on a large table, or beside
// another one.
func TestScrubWaits(t *testing.T) {
	ctx := context.Background()
	d, err := OpenDatabase(ctx, gatetest.Postgres(t)+"&lock_timeout=100", Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	table := fmt.Sprintf("scrub_%d", time.Now().UnixNano())
	if _, err := d.write.ExecContext(ctx, `CREATE TABLE `+table+` (n BIGINT PRIMARY KEY)`); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = d.write.ExecContext(ctx, `DROP TABLE `+table) })
	scrubbed := make(chan error, 1)
	err = d.InTransaction(ctx, func(tx *Tx) error {
		if _, err := tx.ExecContext(ctx, `LOCK TABLE `+table+` IN SHARE UPDATE EXCLUSIVE MODE`); err != nil {
			return err
		}
		go func() { scrubbed <- d.ScrubDeleted(ctx, table) }()
		select {
		case err := <-scrubbed:
			return fmt.Errorf("it did not wait: %w", err)
		case <-time.After(500 * time.Millisecond):
			return nil
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-scrubbed; err != nil {
		t.Error(err)
	}
	var limit string
	if err := d.write.QueryRowContext(ctx, `SELECT current_setting('lock_timeout')`).Scan(&limit); err != nil || limit != "100ms" {
		t.Error("the next session:", limit, err)
	}
}

// TestGrownTablesAreAnalyzed: PostgreSQL's planner learns of rows without waiting for the server's own rounds, which are
// off for this table.
func TestGrownTablesAreAnalyzed(t *testing.T) {
	ctx := context.Background()
	d, err := OpenDatabase(ctx, gatetest.Postgres(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	table := fmt.Sprintf("grown_%d", time.Now().UnixNano())
	create := `CREATE TABLE ` + table + ` (n BIGINT PRIMARY KEY) WITH (autovacuum_enabled = false)`
	if _, err := d.write.ExecContext(ctx, create); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = d.write.ExecContext(ctx, `DROP TABLE `+table) })
	write := func(text string) {
		t.Helper()
		if err := d.InTransaction(ctx, func(tx *Tx) error { _, err := tx.ExecContext(ctx, text); return err }); err != nil {
			t.Fatal(err)
		}
	}
	write(`INSERT INTO ` + table + ` SELECT generate_series(1, 5000)`)
	polltest.Until(t, "statistics of 5,000 rows", func() bool {
		write(`UPDATE ` + table + ` SET n = n WHERE n = 1`) // writes go on
		var rows float64
		err := d.write.QueryRowContext(ctx, `SELECT reltuples FROM pg_class WHERE relname = $1`, table).Scan(&rows)
		return err == nil && rows > 4000
	})
}
