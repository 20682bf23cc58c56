package sqldb

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// SQLite runs one write transaction at a time, and most of the time of a small one is its sync. So waiting transactions
// are committed together: the first writer becomes the leader, runs all queued work in one transaction of the engine,
// each in a savepoint of its own, and commits once. Work that fails rolls back to its savepoint; the rest commits. When
// no other work is queued, work runs in a transaction of its own without a savepoint.
//
// A bulk, which writes many rows, shares its transaction with no other work. Bulks and the single writes that wait take
// turns, so a single write waits for at most one bulk, and a stream of single writes does not starve bulks.
//
// PostgreSQL has many writers and shares syncs by itself: there each transaction is one of its own.
const (
	mostShared = 128 // how much work one commit holds
	// shareTime ends a shared transaction for those who come late: the first one waits for all.
	shareTime = 5 * time.Millisecond
)

// writers are those who want to write.
type writers struct {
	mu      sync.Mutex
	leading bool
	waiting []*write
	bulks   []*write // bulks that wait
	wasBulk bool     // whether the last leader was a bulk
}

// queueFor returns the queue that work waits in. The caller holds the lock.
func (q *writers) queueFor(w *write) *[]*write {
	if w.isBulk {
		return &q.bulks
	}
	return &q.waiting
}

// write is one caller's work.
type write struct {
	ctx      context.Context //nolint:containedctx // it waits in a queue for the length of its caller's call
	fn       func(tx *Tx) error
	isBulk   bool
	tx       *Tx
	err      error
	panicked any
	// lead is closed to make the caller the next to lead, done when its work is over.
	lead, done chan struct{}
}

// runShared runs fn in a transaction that others may share, and returns when it is on disk.
func (d *DB) runShared(ctx context.Context, isBulk bool, fn func(tx *Tx) error) error {
	q := &d.writers
	w := &write{ctx: ctx, fn: fn, isBulk: isBulk, err: errGone, lead: make(chan struct{}), done: make(chan struct{})}
	q.mu.Lock()
	if q.leading {
		waiting := q.queueFor(w)
		*waiting = append(*waiting, w)
		q.mu.Unlock()
		select {
		case <-w.done:
			return w.waitResult()
		case <-w.lead:
		case <-ctx.Done():
			if q.leaveQueue(w) {
				return ctx.Err()
			}
			select { // a leader has taken it, or it becomes the leader
			case <-w.done:
				return w.waitResult()
			case <-w.lead:
			}
		}
	} else {
		q.leading, q.wasBulk = true, isBulk
		q.mu.Unlock()
	}
	defer q.wakeNextLeader()
	d.leadBatch(w)
	return w.waitResult()
}

// leaveQueue removes work from the queue. It returns false when a leader has taken the work already.
func (q *writers) leaveQueue(w *write) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := q.queueFor(w)
	i := slices.Index(*waiting, w)
	if i < 0 {
		return false
	}
	*waiting = slices.Delete(*waiting, i, i+1)
	return true
}

// wakeNextLeader makes the next who waits lead: after a bulk a single write, after single writes a bulk.
func (q *writers) wakeNextLeader() {
	q.mu.Lock()
	defer q.mu.Unlock()
	from := &q.waiting
	if len(q.bulks) > 0 && (len(q.waiting) == 0 || !q.wasBulk) {
		from = &q.bulks
	}
	if len(*from) == 0 {
		q.leading, q.wasBulk = false, false
		return
	}
	next := (*from)[0]
	*from = (*from)[1:]
	q.wasBulk = next.isBulk
	close(next.lead)
}

func (q *writers) takeWaiting(n int) []*write {
	q.mu.Lock()
	defer q.mu.Unlock()
	n = min(n, len(q.waiting))
	taken := q.waiting[:n:n]
	q.waiting = q.waiting[n:]
	return taken
}

// waitResult returns what came of the work, or panics as it did.
func (w *write) waitResult() error {
	if w.panicked != nil {
		panic(w.panicked)
	}
	return w.err
}

// leadBatch runs the leader's work, alone or with that of others.
func (d *DB) leadBatch(w *write) {
	var others []*write
	if !w.isBulk {
		others = d.writers.takeWaiting(mostShared - 1)
	}
	if len(others) == 0 {
		w.err = d.runTxOnce(w.ctx, w.fn)
		return
	}
	batch := append([]*write{w}, others...)
	defer func() {
		for _, each := range batch[1:] {
			close(each.done)
		}
	}()
	if d.runTogether(&batch) {
		return
	}
	// The engine gave the whole transaction up, as it does when a statement is interrupted or the disk is full: each on
	// its own, then.
	for _, each := range batch {
		each.err, each.panicked = each.ctx.Err(), nil
		if each.err == nil {
			each.panicked = catchPanic(func() { each.err = d.runTxOnce(each.ctx, each.fn) })
		}
	}
}

// keepDeadline returns a context that ends at ctx's deadline and not when ctx is cancelled: work that others share must
// not end because one of them hung up.
func keepDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	detached := context.WithoutCancel(ctx)
	if deadline, has := ctx.Deadline(); has {
		return context.WithDeadline(detached, deadline)
	}
	return detached, func() {}
}

// errGone means that the engine's transaction ended before its time.
var errGone = errors.New("the shared transaction is gone")

// runTogether runs all work in one transaction, and that of those who come meanwhile. It tells whether everybody's
// result stands.
func (d *DB) runTogether(batch *[]*write) bool {
	began := time.Now()
	ctx, cancel := keepDeadline((*batch)[0].ctx)
	defer cancel()
	err := d.runTxOnce(ctx, func(tx *Tx) error {
		for i := 0; i < len(*batch); i++ {
			if err := tx.runMember((*batch)[i]); err != nil {
				return err
			}
			if i == len(*batch)-1 && time.Since(began) < shareTime {
				*batch = append(*batch, d.writers.takeWaiting(mostShared-len(*batch))...)
			}
		}
		return nil
	})
	if errors.Is(err, errGone) {
		return false
	}
	for _, w := range *batch {
		if err != nil &&
			(w.err == nil || w.tx == nil) { // nothing is kept of a commit that failed; it may not even have begun
			w.err = err
		}
		if w.err == nil && w.panicked == nil {
			for _, fn := range w.tx.after {
				fn()
			}
		}
	}
	return true
}

// runMember runs one caller's work in a savepoint. Its error is that of the transaction; the work's own stays with it.
func (t *Tx) runMember(w *write) error {
	if w.err = w.ctx.Err(); w.err != nil {
		return nil
	}
	ctx, cancel := keepDeadline(w.ctx)
	defer cancel()
	if _, err := t.Tx.ExecContext(ctx, `SAVEPOINT member`); err != nil {
		return errGone
	}
	w.tx = &Tx{Tx: t.Tx, conn: t.conn, engine: t.engine, texts: t.texts, guard: t.guard}
	w.panicked = catchPanic(func() {
		if w.err = w.fn(w.tx); w.err == nil {
			w.err = w.tx.checkMarks(ctx)
		}
	})
	if w.err != nil || w.panicked != nil {
		if _, err := t.Tx.ExecContext(ctx, `ROLLBACK TO SAVEPOINT member`); err != nil {
			return errGone
		}
	}
	if _, err := t.Tx.ExecContext(ctx, `RELEASE SAVEPOINT member`); err != nil {
		return errGone
	}
	return nil
}

// catchPanic runs fn and returns what it panicked with.
func catchPanic(fn func()) (panicked any) {
	defer func() { panicked = recover() }()
	fn()
	return nil
}
