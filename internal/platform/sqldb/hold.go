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

// RowsWritten counts the rows that the transaction wrote, those that the engine took along with others included. It may
// only be asked while the watcher is being told.
func (h Hold) RowsWritten() int64 { return h.rows() }

// WatchWriter calls fn for every transaction that held SQLite's writer, before the next one begins. It replaces an
// earlier watcher. On PostgreSQL, which has no single writer, it does nothing.
func (d *DB) WatchWriter(ctx context.Context, fn func(Hold)) error {
	if d.engine != SQLite {
		return nil
	}
	return d.InTransaction(ctx, func(tx *Tx) error {
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
			err := conn.QueryRowContext(context.Background(), `SELECT total_changes()`).Scan(&d.changes)
			if err != nil || d.changes < before {
				before = 0
			}
			return d.changes - before
		}})
	}
}
