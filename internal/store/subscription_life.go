package store

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/subscription"
)

// MoveSubscriptions takes some subscriptions a step on, with their events, in one transaction: at most limit, and fewer
// where each of them is told to many endpoints.
func (s Subscriptions) MoveSubscriptions(
	ctx context.Context, id partner.ID, which subscription.Selection, move subscription.Move, after int64, limit int,
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
		return s.moveSubscriptions(ctx, tx, id, change, move, nil)
	})
	return moved, err
}

// hasExpired reports whether a partner has a subscription that has not ended though its expiry date lies before a day.
func hasExpired(ctx context.Context, q querier, id partner.ID, day subscription.Day) (over bool, err error) {
	return readValue[bool](ctx, q, `SELECT EXISTS (SELECT 1 FROM subscription
		WHERE partner_id = $1 AND ended_at = 0 AND expiry_day > 0 AND expiry_day < $2)`,
		id,
		day,
	)
}

// readSelected reads the chosen subscriptions that have not ended; for the sweep those that are past their date, for
// all others those that are not.
func (s Subscriptions) readSelected(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, which subscription.Selection, after int64, limit int,
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
		id,
		s.blindCPFIndex(id, which.CPF),
		which.Plan,
		after,
		today,
	)
}

// endBySeq ends single subscriptions, for a transaction that holds the counter's lock and is about to store others
// which name the values in staying.
func (s Subscriptions) endBySeq(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, seqs []int64, staying []assetRow,
) error {
	subs := make([]subscription.Subscription, 0, len(seqs))
	for _, seq := range seqs {
		sub, err := readRow(ctx, tx, s.scanSubscription(id), subscription.ErrNotFound, `SELECT `+subscriptionColumns+`
			FROM subscription WHERE partner_id = $1 AND seq = $2`,
			id,
			seq,
		)
		if err != nil {
			return err
		}
		subs = append(subs, sub)
	}
	return s.moveSubscriptions(ctx, tx, id, subs, subscription.End, staying)
}

// moveSubscriptions writes the step, the counts and the events of subscriptions that have not ended, and ends the watch
// on what no other names, but for the values in staying. The caller holds the counter's lock.
func (s Subscriptions) moveSubscriptions(
	ctx context.Context,
	tx *sqldb.Tx,
	id partner.ID,
	subs []subscription.Subscription,
	move subscription.Move,
	staying []assetRow,
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
	seats, list := make([]seat, len(subs)), make(sqldb.Statements, len(subs))
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
		// Before the events: whatever locks a watched value locks it before the counter of events.
		if err := s.settleWatches(ctx, tx, id, s.watchingPeople(id, subs), staying); err != nil {
			return err
		}
	}
	return s.addMoveEvents(ctx, tx, id, move, subs)
}

// watchingPeople returns the CPFs, as indexes, of the subscriptions that have something watched.
func (s Subscriptions) watchingPeople(id partner.ID, subs []subscription.Subscription) [][]byte {
	var cpfs [][]byte
	for _, sub := range subs {
		if sub.Watch != 0 {
			cpfs = append(cpfs, s.blindCPFIndex(id, sub.Beneficiary.CPF))
		}
	}
	return cpfs
}

// addMoveEvents tells the partner of a step. Who never was named by a user hash is named by the longer digest.
func (s Subscriptions) addMoveEvents(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, move subscription.Move, subs []subscription.Subscription,
) error {
	// Through the transaction: no second connection is taken.
	salt, err := Partners{s.withTransaction(tx)}.OpenSalt(ctx, id)
	if err != nil {
		return err
	}
	events := make([]alert.Event, len(subs))
	for i, sub := range subs {
		user := partner.LongUserHash(sub.Beneficiary.CPF, salt)
		events[i] = alert.SubscriptionMoved(id, sub, move, user, s.now())
	}
	return Alerts(s).addPartnerEvents(ctx, tx, id, events...)
}
