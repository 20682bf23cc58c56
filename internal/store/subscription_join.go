package store

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// Bulk requests of one partner run one after the other, because each holds the partner's counter until it is on disk.
// So waiting requests of one process are joined: the first request becomes the leader and loads its rows together with
// those of all queued requests in one transaction, as if they had come in one request. Each gets its own answer. When a
// joined load fails, each request is retried on its own, so that one bad request does not fail the others; but not when
// the database itself is what failed. sqldb shares commits as well, but each of its members runs all statements by
// itself: a joined load creates single subscriptions about a sixth faster (design note 0020).

// mostJoined bounds what a joined load writes, subscriptions and the values that they watch: it is for single
// enrolments and small bulks, whose cost is the commit. A larger bulk gains little by it, and single writes of other
// partners wait for all of it on SQLite: those of a neighbour of eight connections that enrol 100 watched people at a
// time took 200 ms when only subscriptions were counted, and take 50 now.
const mostJoined = 250

// bulkQueues are the bulk requests of this process by partner.
type bulkQueues struct {
	mu   sync.Mutex
	lead map[partner.ID][]*bulkWait // requests queued behind a running load of the same partner
}

// bulkWait is one request's rows on their way.
type bulkWait struct {
	ctx      context.Context //nolint:containedctx // it waits in a queue for the length of its caller's call
	rows     []newRow
	register []plan.Plan
	stored   []int // items that the partner has already
	err      error
	// lead is closed to make the caller the next to lead, done when its rows are kept.
	lead, done chan struct{}
}

// countWrites returns how many subscriptions and watched values the request writes.
func (w *bulkWait) countWrites() int {
	n := len(w.rows)
	for _, r := range w.rows {
		n += len(r.values)
	}
	return n
}

// errLeft is the result of a wait whose leader did not come to an end.
var errLeft = errors.New("the joined load was given up")

// keepJoined stores rows of a batch, together with those of others, and returns the items that the partner has already.
func (b *batch) keepJoined(ctx context.Context, register []plan.Plan, rows []newRow) ([]int, error) {
	w := &bulkWait{
		ctx:      ctx,
		rows:     rows,
		register: register,
		err:      errLeft,
		lead:     make(chan struct{}),
		done:     make(chan struct{}),
	}
	q := &b.store.bulk
	if q.enterQueue(b.id, w) {
		select {
		case <-w.done:
			return w.stored, w.err
		case <-w.lead:
		case <-ctx.Done():
			if q.leaveQueue(b.id, w) {
				return nil, ctx.Err()
			}
			select { // a leader has taken it, or it becomes the leader
			case <-w.done:
				return w.stored, w.err
			case <-w.lead:
			}
		}
	}
	defer q.wakeNextLeader(b.id)
	others := q.takeWaiting(b.id, mostJoined-w.countWrites())
	defer func() {
		for _, o := range others {
			close(o.done)
		}
	}()
	if len(others) == 0 {
		b.keepAlone(w)
		return w.stored, w.err
	}
	all := append([]*bulkWait{w}, others...)
	if err := b.keepTogether(all); err != nil {
		for _, each := range all {
			// All wait for the same counter: they share the time that the wait for it may take.
			if each.err = err; !errors.Is(err, ErrUnavailable) {
				b.keepAlone(each)
			}
		}
	}
	return w.stored, w.err
}

// enterQueue queues a request behind the running load. It returns false when there is none: the caller becomes the
// leader.
func (q *bulkQueues) enterQueue(id partner.ID, w *bulkWait) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting, busy := q.lead[id]
	if busy {
		waiting = append(waiting, w)
	} else if q.lead == nil {
		q.lead = map[partner.ID][]*bulkWait{}
	}
	q.lead[id] = waiting
	return busy
}

// leaveQueue removes a request from the queue. It returns false when a leader has taken the request already.
func (q *bulkQueues) leaveQueue(id partner.ID, w *bulkWait) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.lead[id], w)
	if i < 0 {
		return false
	}
	q.lead[id] = slices.Delete(q.lead[id], i, i+1)
	return true
}

// wakeNextLeader makes the first who waits lead.
func (q *bulkQueues) wakeNextLeader(id partner.ID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := q.lead[id]
	if len(waiting) == 0 {
		delete(q.lead, id)
		return
	}
	q.lead[id] = waiting[1:]
	close(waiting[0].lead)
}

// takeWaiting returns who waits, in order, up to a number of writes.
func (q *bulkQueues) takeWaiting(id partner.ID, most int) []*bulkWait {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting, n := q.lead[id], 0
	for ; n < len(waiting); n++ {
		most -= waiting[n].countWrites()
		if most < 0 {
			break
		}
	}
	q.lead[id] = waiting[n:]
	return slices.Clone(waiting[:n])
}

// keepAlone stores one request's rows in a transaction of its own.
func (b *batch) keepAlone(w *bulkWait) {
	w.stored = nil
	w.err = b.store.runInBulkTx(w.ctx, len(w.rows), func(tx *sqldb.Tx) error {
		left, err := b.keepRows(w.ctx, tx, w.register, w.rows)
		w.stored = itemNumbers(left)
		return err
	})
}

// keepTogether stores the rows of all in one load, or none. A row that repeats one of an earlier request is one that
// the partner has by then.
func (b *batch) keepTogether(all []*bulkWait) error {
	var rows []newRow
	var register []plan.Plan
	seen, repeated := map[liveKey]bool{}, make([][]int, len(all))
	for i, w := range all {
		for _, p := range w.register {
			if !slices.ContainsFunc(register, func(r plan.Plan) bool { return r.ID == p.ID }) {
				register = append(register, p)
			}
		}
		for _, r := range w.rows {
			if seen[r.uniqueKey()] {
				repeated[i] = append(repeated[i], r.item)
				continue
			}
			seen[r.uniqueKey()] = true
			r.request = i
			rows = append(rows, r)
		}
	}
	var left []newRow
	ctx, cancel := sqldb.KeepDeadline(all[0].ctx) // a request that is cancelled must not cancel the others
	defer cancel()
	err := b.store.runInBulkTx(ctx, len(rows), func(tx *sqldb.Tx) (err error) {
		left, err = b.keepRows(ctx, tx, register, rows)
		return err
	})
	if err != nil {
		return err
	}
	for i, w := range all {
		w.stored, w.err = repeated[i], nil
	}
	for _, r := range left {
		w := all[r.request]
		w.stored = append(w.stored, r.item)
	}
	return nil
}
