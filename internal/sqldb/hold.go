package sqldb

import (
	"context"
	"database/sql"
	"time"
)

// Hold is one transaction that had SQLite's only writer, kept or undone.
type Hold struct {
	// Time is from having the writer to having let it go, the sync included.
	Time time.Duration
	rows func() int64
}

// RowsWritten counts the rows that the transaction wrote, those that the engine took along with others included. It may only be
// asked while the watcher is being told.
func (h Hold) RowsWritten() int64 { return h.rows() }

// WatchWriter calls fn for every transaction that held SQLite's writer, before the next one begins. It replaces an
// earlier watcher. On PostgreSQL, which has no single writer, it does nothing.
func (d *DB) WatchWriter(ctx context.Context, fn func(Hold)) error {
	if d.engine != SQLite {
		return nil
	}
	return d.InTx(ctx, func(tx *Tx) error {
		d.watcher.Store(&fn)
		return tx.QueryRowContext(ctx, `SELECT total_changes()`).Scan(&d.changes)
	})
}

// watchHold begins to watch a transaction on the writing connection and returns what is called when it is over.
func (d *DB) watchHold(conn *sql.Conn) (over func()) {
	watcher := d.watcher.Load()
	if watcher == nil {
		return func() {}
	}
	began := time.Now()
	return func() {
		(*watcher)(Hold{Time: time.Since(began), rows: func() int64 {
			before := d.changes
			// The engine's own count never goes back, and a connection that was opened anew begins at nothing.
			if err := conn.QueryRowContext(context.Background(), `SELECT total_changes()`).Scan(&d.changes); err != nil || d.changes < before {
				before = 0
			}
			return d.changes - before
		}})
	}
}

// The time that a batch of a long work aims at, and the bounds of its size and of the pause behind it.
const (
	batchTime   = 8 * time.Millisecond
	firstBatch  = 100
	least, most = time.Millisecond, 10 * time.Millisecond
)

// InBatches does long work in transactions of a few rows, so that no other transaction waits long for SQLite's one
// writer or for row locks of PostgreSQL. step gets the number of rows done and how many more it may do, never more than
// largest, and returns how many it did; 0 ends the work. The batch size follows the time that steps take.
func (d *DB) InBatches(ctx context.Context, largest int64, step func(tx *Tx, done, limit int64) (int64, error)) (done int64, err error) {
	for limit := min(firstBatch, largest); ; {
		var n int64
		var took time.Duration
		d.AwaitCheckpoint(ctx)
		err := d.InTx(ctx, func(tx *Tx) (err error) {
			began := time.Now()
			n, err = step(tx, done, limit)
			took = time.Since(began)
			return err
		})
		if err != nil || n == 0 {
			return done, err
		}
		done += n
		switch {
		case took > 2*batchTime:
			limit = max(1, limit/2)
		case took < batchTime/2:
			limit = min(largest, 2*limit)
		}
		select {
		case <-ctx.Done():
			return done, ctx.Err()
		case <-time.After(max(least, min(most, took))): // lets waiting writers in
		}
	}
}
