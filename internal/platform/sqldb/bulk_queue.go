package sqldb

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// HasSingleWrites reports whether a bulk has single writes beside it that would wait for its transaction: on SQLite,
// which has one writer, whether one came within the last second. On PostgreSQL they wait for rows only, at any time.
func (d *DB) HasSingleWrites() bool {
	return d.engine != SQLite || time.Since(time.Unix(0, d.writers.lastSingle.Load())) < time.Second
}

// InBulkTx is InTransaction for work that writes many rows: on SQLite the single writes that wait go before the next
// bulk, and PostgreSQL plans each statement anew. Bulks are what fills a table: a plan that was kept from when it was
// empty reads all of it each time, until the server has counted the rows again.
func (d *DB) InBulkTx(ctx context.Context, fn func(tx *Tx) error) error {
	if d.engine != SQLite {
		return d.InTransaction(ctx, planAnew(ctx, fn))
	}
	return d.retryTransaction(ctx, func() error { return d.runShared(ctx, &d.writers, true, fn) })
}

// planAnew has PostgreSQL plan the statements of a transaction for the tables as they are.
func planAnew(ctx context.Context, fn func(tx *Tx) error) func(tx *Tx) error {
	return func(tx *Tx) error {
		if _, err := tx.ExecContext(ctx, `SET LOCAL plan_cache_mode = force_custom_plan`); err != nil {
			return fmt.Errorf("plan anew: %w", err)
		}
		return fn(tx)
	}
}

// InNamedQueue is InTransaction, or InBulkTx, for work that locks the same row as all other work of its queue. On
// PostgreSQL those of this process which wait for each other share a transaction, each undone for itself when it fails.
func (d *DB) InNamedQueue(ctx context.Context, name string, isBulk bool, fn func(tx *Tx) error) error {
	switch {
	case d.engine == SQLite && isBulk:
		return d.InBulkTx(ctx, fn)
	case d.engine == SQLite: // all writes are in one queue
		return d.InTransaction(ctx, fn)
	}
	if isBulk {
		fn = planAnew(ctx, fn)
	}
	q := d.queues.enterQueue(name)
	defer d.queues.leaveQueue(name, q)
	return d.retryTransaction(ctx, func() error { return d.runShared(ctx, &q.writers, false, fn) })
}

// queues are those who wait for each other on PostgreSQL, by what they wait for.
type queues struct {
	mu   sync.Mutex
	used map[string]*queue
}

// queue is one queue of PostgreSQL transactions; it exists while it has users.
type queue struct {
	writers
	users int // the last one deletes the queue
}

// enterQueue returns the queue of a name and creates it if needed. It stays until its last user has left.
func (all *queues) enterQueue(name string) *queue {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.used == nil {
		all.used = map[string]*queue{}
	}
	q := all.used[name]
	if q == nil {
		q = &queue{}
		all.used[name] = q
	}
	q.users++
	return q
}

// leaveQueue deletes a queue that nothing is in any more.
func (all *queues) leaveQueue(name string, q *queue) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if q.users--; q.users == 0 {
		delete(all.used, name)
	}
}
