package sqldb

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// sharing opens a SQLite database with a counter and a list, and holds its writer: what is begun before let is called
// waits, and goes to disk together.
func sharing(t *testing.T) (d *DB, let func()) {
	t.Helper()
	ctx := context.Background()
	d, err := OpenDatabase(ctx, filepath.Join(t.TempDir(), "shared.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	err = d.InTransaction(ctx, func(tx *Tx) error {
		_, err := tx.ExecContext(ctx, `CREATE TABLE seat (n INTEGER PRIMARY KEY, who TEXT NOT NULL)`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	held, free := make(chan struct{}), make(chan struct{})
	go func() {
		_ = d.InTransaction(ctx, func(*Tx) error {
			close(held)
			<-free
			return nil
		})
	}()
	<-held
	return d, func() { close(free) }
}

// waitFor waits until so many writers stand behind the one that is held.
func waitFor(t *testing.T, d *DB, n int) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Millisecond) {
		d.writers.mu.Lock()
		waiting := len(d.writers.waiting)
		d.writers.mu.Unlock()
		if waiting == n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d wait, want %d", waiting, n)
		}
	}
}

// sit takes the next seat.
func sit(ctx context.Context, tx *Tx, who string) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO seat (n, who) SELECT coalesce(max(n), 0) + 1, $1 FROM seat`, who)
	return err
}

func seats(t *testing.T, d *DB) (n, last int64) {
	t.Helper()
	if err := d.ReadPool().QueryRowContext(context.Background(), `SELECT count(*), coalesce(max(n), 0) FROM seat`).Scan(&n, &last); err != nil {
		t.Fatal(err)
	}
	return n, last
}

// TestWritersShareACommit: forty who wait for the writer are on disk with a few commits, each with its own seat, and
// what was asked for after the commit is done for each.
func TestWritersShareACommit(t *testing.T) {
	d, let := sharing(t)
	ctx := context.Background()
	const people = 40
	before := d.commits.Load()
	var wg sync.WaitGroup
	var told atomic.Int64
	for i := range people {
		wg.Go(func() {
			err := d.InTransaction(ctx, func(tx *Tx) error {
				tx.AfterCommit(func() { told.Add(1) })
				return sit(ctx, tx, fmt.Sprint(i))
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	waitFor(t, d, people)
	let()
	wg.Wait()
	if n, last := seats(t, d); n != people || last != people || told.Load() != people {
		t.Errorf("%d seats up to %d, %d were told, want %d", n, last, told.Load(), people)
	}
	if commits := d.commits.Load() - before; commits > 4 { // the one that held the writer, and some
		t.Errorf("%d commits for %d writers that waited together", commits, people)
	}
}

// TestOneThatFailsTakesNobodyAlong: an error, a panic and a caller who gave up leave nothing, and the others stand.
func TestOneThatFailsTakesNobodyAlong(t *testing.T) {
	d, let := sharing(t)
	ctx := context.Background()
	gone, leave := context.WithCancel(ctx)
	errNo := errors.New("no")
	var wg sync.WaitGroup
	var told atomic.Int64
	run := func(ctx context.Context, want error, fn func(tx *Tx) error) {
		wg.Go(func() {
			err := d.InTransaction(ctx, func(tx *Tx) error {
				tx.AfterCommit(func() { told.Add(1) })
				if err := sit(ctx, tx, "x"); err != nil {
					return err
				}
				return fn(tx)
			})
			if !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
		})
	}
	for range 5 {
		run(ctx, nil, func(*Tx) error { return nil })
		run(ctx, errNo, func(*Tx) error { return errNo })
	}
	run(gone, context.Canceled, func(*Tx) error { return nil })
	wg.Go(func() {
		defer func() {
			if p := recover(); p != "oh" {
				t.Errorf("the caller was told %v of the panic", p)
			}
		}()
		_ = d.InTransaction(ctx, func(tx *Tx) error {
			_ = sit(ctx, tx, "y")
			panic("oh")
		})
	})
	waitFor(t, d, 12)
	leave()
	waitFor(t, d, 11)
	let()
	wg.Wait()
	if n, last := seats(t, d); n != 5 || last != 5 || told.Load() != 5 {
		t.Errorf("%d seats up to %d, %d were told, want 5", n, last, told.Load())
	}
}

// TestInterruptedOneTakesNobodyAlong: a statement that is interrupted ends the engine's whole transaction; the work of
// the others is done again.
func TestInterruptedOneTakesNobodyAlong(t *testing.T) {
	d, let := sharing(t)
	ctx := context.Background()
	short, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	for i := range 11 {
		wg.Go(func() {
			if i != 5 {
				if err := d.InTransaction(ctx, func(tx *Tx) error { return sit(ctx, tx, "x") }); err != nil {
					t.Error(err)
				}
				return
			}
			err := d.InTransaction(short, func(tx *Tx) error {
				time.AfterFunc(20*time.Millisecond, cancel)
				_, err := tx.ExecContext(
					short,
					`INSERT INTO seat (n, who) WITH RECURSIVE c (n) AS (SELECT 1000 UNION ALL SELECT n + 1 FROM c)
					SELECT n, 'z' FROM c`,
				)
				return err
			})
			if err == nil {
				t.Error("a statement without an end came to one")
			}
		})
	}
	waitFor(t, d, 11)
	let()
	wg.Wait()
	if n, last := seats(t, d); n != 10 || last != 10 {
		t.Errorf("%d seats up to %d, want 10", n, last)
	}
}

// BenchmarkWriters compares small writes of many callers with and without sharing.
func BenchmarkWriters(b *testing.B) {
	for _, callers := range []int{1, 32} {
		for _, how := range []string{"shared", "alone"} {
			b.Run(fmt.Sprintf("%s/%d", how, callers), func(b *testing.B) {
				ctx := context.Background()
				d, err := OpenDatabase(ctx, filepath.Join(b.TempDir(), "shared.db"), Options{})
				if err != nil {
					b.Fatal(err)
				}
				defer func() { _ = d.Close() }()
				run := d.InTransaction
				if how == "alone" {
					run = d.runTxOnce
				}
				err = run(ctx, func(tx *Tx) error {
					_, err := tx.ExecContext(ctx, `CREATE TABLE seat (n INTEGER PRIMARY KEY, who TEXT NOT NULL)`)
					return err
				})
				if err != nil {
					b.Fatal(err)
				}
				var left atomic.Int64
				left.Store(int64(b.N))
				var wg sync.WaitGroup
				for range callers {
					wg.Go(func() {
						for left.Add(-1) >= 0 {
							if err := run(ctx, func(tx *Tx) error { return sit(ctx, tx, "somebody") }); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				wg.Wait()
			})
		}
	}
}
