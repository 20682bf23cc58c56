package store

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/subscription"
)

// MoveSubscriptions takes some subscriptions a step on, with their events, in one transaction: at most limit, and fewer
// where each of them is told to many endpoints.
func (s Subscriptions) MoveSubscriptions(
	ctx context.Context,
	id partner.ID,
	which subscription.Selection,
	move subscription.Move,
	after int64,
	limit int,
) (subscription.Moved, error) {
	var moved subscription.Moved
	if which.Over != 0 {
		// The sweep looks every minute at every partner and mostly finds nothing: it looks before it locks.
		if due, err := hasExpired(ctx, s.readQuerier(), id, which.Over); err != nil || !due {
			return moved, err
		}
	}
	err := s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		moved = subscription.Moved{Last: after}
		if _, err := lockSubscriptions(ctx, tx, id); err != nil {
			return err
		}
		atOnce, err := tellingAtOnce(ctx, tx, id)
		if err != nil {
			return err
		}
		atOnce = min(atOnce, limit)
		found, err := s.readSelected(ctx, tx, id, which, after, atOnce)
		if err != nil {
			return err
		}
		moved.Found, moved.More = len(found), len(found) == atOnce
		change := found[:0]
		for _, sub := range found {
			moved.Last = max(moved.Last, sub.Seq)
			if move.ChangesSubscription(sub) {
				change = append(change, sub)
			}
		}
		moved.Changed = len(change)
		return s.moveSubscriptions(ctx, tx, id, change, move)
	})
	return moved, err
}

// hasExpired reports whether a partner has a subscription that has not ended though its expiry date lies before a day.
func hasExpired(ctx context.Context, q querier, id partner.ID, day subscription.Day) (over bool, err error) {
	return readValue[bool](ctx, q, `SELECT EXISTS (SELECT 1 FROM subscription
		WHERE partner_id = $1 AND ended_at = 0 AND expiry_day > 0 AND expiry_day < $2)`, id, day)
}

// readSelected reads the chosen subscriptions that have not ended; for the sweep those that are past their date, for all
// others those that are not.
func (s Subscriptions) readSelected(
	ctx context.Context,
	tx *sqldb.Tx,
	id partner.ID,
	which subscription.Selection,
	after int64,
	limit int,
) ([]subscription.Subscription, error) {
	scan := s.scanSubscription(id)
	today := int64(subscription.DayInBrazil(s.now()))
	const from = `SELECT ` + subscriptionColumns + ` FROM subscription WHERE partner_id = $1 AND ended_at = 0 AND `
	switch {
	case which.Over != 0: // what was ended is not met again, so after is not needed
		return collectRows(
			ctx,
			tx,
			scan,
			from+`expiry_day > 0 AND expiry_day < $2 ORDER BY expiry_day, seq LIMIT $3`,
			id,
			which.Over,
			limit,
		)
	case which.Holder != "":
		return collectRows(
			ctx,
			tx,
			scan,
			from+lastDay+` >= $5 AND holder = $2 AND holder <> '' AND seq > $3 ORDER BY seq LIMIT $4`,
			id,
			s.holderIndex(id, which.Holder),
			after,
			limit,
			today,
		)
	}
	return collectRows(ctx, tx, scan, from+lastDay+` >= $5 AND cpf = $2 AND plan_id = $3 AND seq > $4`,
		id, s.blindCPFIndex(id, which.CPF), which.Plan, after, today)
}

// endBySeq ends single subscriptions, for a transaction that holds the counter's lock.
func (s Subscriptions) endBySeq(ctx context.Context, tx *sqldb.Tx, id partner.ID, seqs []int64) error {
	subs := make([]subscription.Subscription, 0, len(seqs))
	for _, seq := range seqs {
		sub, err := readRow(ctx, tx, s.scanSubscription(id), subscription.ErrNotFound, `SELECT `+subscriptionColumns+`
			FROM subscription WHERE partner_id = $1 AND seq = $2`, id, seq)
		if err != nil {
			return err
		}
		subs = append(subs, sub)
	}
	return s.moveSubscriptions(ctx, tx, id, subs, subscription.End)
}

// moveSubscriptions writes the step, the counts and the events of subscriptions that have not ended. The caller holds the counter's
// lock.
func (s Subscriptions) moveSubscriptions(
	ctx context.Context,
	tx *sqldb.Tx,
	id partner.ID,
	subs []subscription.Subscription,
	move subscription.Move,
) error {
	if len(subs) == 0 {
		return nil
	}
	set, at := `suspended_at = $3`, s.now()
	switch move {
	case subscription.End:
		set = `ended_at = $3`
	case subscription.Suspend:
	case subscription.Resume:
		at = time.Time{}
	}
	seats, list := make([]seat, len(subs)), make([]sqldb.Statement, len(subs))
	for i, sub := range subs {
		seats[i] = seat{sub.Seq, int64(sub.Expiry)}
		list[i] = sqldb.NewStatement(
			`UPDATE subscription SET `+set+` WHERE partner_id = $1 AND seq = $2`,
			id,
			sub.Seq,
			at,
		)
	}
	if err := tx.RunStatements(ctx, list); err != nil {
		return err
	}
	if move == subscription.End {
		if err := s.removeActive(ctx, tx, id, seats); err != nil {
			return err
		}
	}
	return s.addMoveEvents(ctx, tx, id, move, subs)
}

// addMoveEvents tells the partner of a step. Who never was named by a user hash is named by the longer digest.
func (s Subscriptions) addMoveEvents(
	ctx context.Context,
	tx *sqldb.Tx,
	id partner.ID,
	move subscription.Move,
	subs []subscription.Subscription,
) error {
	salt, err := Partners{
		s.withTransaction(tx),
	}.OpenSalt(
		ctx,
		id,
	) // through the transaction: no second connection is taken
	if err != nil {
		return err
	}
	return Alerts(s).addPartnerEvents(ctx, tx, id, mapToList(subs, func(sub subscription.Subscription) alert.Event {
		return alert.SubscriptionMoved(id, sub, move, partner.LongUserHash(sub.Beneficiary.CPF, salt), s.now())
	})...)
}

// Bulk requests of one partner run one after the other, because each holds the partner's counter until it is on disk.
// So waiting requests of one process are joined: the first request becomes the leader and loads its rows together with
// those of all queued requests in one transaction, as if they had come in one request. Each gets its own answer. When a
// joined load fails, each request is retried on its own, so that one bad request does not fail the others; but not when
// the database itself is what failed.

// mostJoined bounds the rows of a joined load: it is for single enrolments and small bulks, whose cost is the commit. A
// large bulk gains nothing by it, and single writes of other partners would wait for all of it on SQLite.
const mostJoined = 1000

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
	others := q.takeWaiting(b.id, mostJoined-len(rows))
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

// takeWaiting returns who waits, in order, up to a number of rows.
func (q *bulkQueues) takeWaiting(id partner.ID, most int) []*bulkWait {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting, n := q.lead[id], 0
	for n < len(waiting) && len(waiting[n].rows) <= most {
		most -= len(waiting[n].rows)
		n++
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
