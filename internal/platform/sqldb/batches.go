package sqldb

import (
	"context"
	"time"
)

// The time that a batch of a long work aims at, and the bounds of its size and of the pause behind it.
const (
	batchTime   = 8 * time.Millisecond
	firstBatch  = 100
	least, most = time.Millisecond, 10 * time.Millisecond
)

// InBatches does long work in transactions of a few rows, so that no other transaction waits long for SQLite's one
// writer or for row locks of PostgreSQL. step gets the number of rows done and how many more it may do, never more than
// largest, and returns how many it did; 0 ends the work. The batch size follows the time that steps take.
func (d *DB) InBatches(
	ctx context.Context, largest int64, step func(tx *Tx, done, limit int64) (int64, error),
) (done int64, err error) {
	for limit := min(firstBatch, largest); ; {
		var n int64
		var took time.Duration
		d.AwaitCheckpoint(ctx)
		err := d.InTransaction(ctx, func(tx *Tx) (err error) {
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
