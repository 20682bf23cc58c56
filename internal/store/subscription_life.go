package store

import (
	"context"
	"fmt"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/subscription"
)

// MoveSubscriptions takes some subscriptions a step on, with their events, in one transaction: at most limit, and fewer
// where each of them is told to many endpoints.
func (s Subscriptions) MoveSubscriptions(ctx context.Context, id partner.ID, which subscription.Selection, move subscription.Move,
	after int64, limit int,
) (subscription.Moved, error) {
	var moved subscription.Moved
	if which.Over != 0 {
		// The sweep looks every minute at every partner and mostly finds nothing: it looks before it locks.
		if due, err := hasExpired(ctx, s.readQuerier(), id, which.Over); err != nil || !due {
			return moved, err
		}
	}
	err := s.runInTx(ctx, func(tx *sqldb.Tx) error {
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
	err = q.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM subscription
		WHERE partner_id = $1 AND ended_at = 0 AND expiry_day > 0 AND expiry_day < $2)`, partnerNumber(id), int64(day)).Scan(&over)
	return over, classifyError(wrapError("find due subscriptions", err))
}

// readSelected reads the chosen subscriptions that have not ended; for the sweep those that are past their date, for all
// others those that are not.
func (s Subscriptions) readSelected(ctx context.Context, tx *sqldb.Tx, id partner.ID, which subscription.Selection, after int64, limit int) ([]subscription.Subscription, error) {
	scan := func(row scanner) (subscription.Subscription, error) { return s.scanSubscription(id, row) }
	today := int64(subscription.DayInBrazil(s.now()))
	const from = `SELECT ` + subscriptionColumns + ` FROM subscription WHERE partner_id = $1 AND ended_at = 0 AND `
	switch {
	case which.Over != 0: // what was ended is not met again, so after is not needed
		return collectRows(ctx, tx, scan, from+`expiry_day > 0 AND expiry_day < $2 ORDER BY expiry_day, seq LIMIT $3`,
			partnerNumber(id), int64(which.Over), int64(limit))
	case which.Holder != "":
		return collectRows(ctx, tx, scan, from+lastDay+` >= $5 AND holder = $2 AND holder <> '' AND seq > $3 ORDER BY seq LIMIT $4`,
			partnerNumber(id), s.holderIndex(id, which.Holder), after, int64(limit), today)
	}
	return collectRows(ctx, tx, scan, from+lastDay+` >= $5 AND cpf = $2 AND plan_id = $3 AND seq > $4`,
		partnerNumber(id), s.blindCPFIndex(id, which.CPF), string(which.Plan), after, today)
}

// endBySeq ends single subscriptions, for a transaction that holds the counter's lock.
func (s Subscriptions) endBySeq(ctx context.Context, tx *sqldb.Tx, id partner.ID, seqs []int64) error {
	subs := make([]subscription.Subscription, 0, len(seqs))
	for _, seq := range seqs {
		sub, err := s.scanSubscription(id, tx.QueryRowContext(ctx, `SELECT `+subscriptionColumns+`
			FROM subscription WHERE partner_id = $1 AND seq = $2`, partnerNumber(id), seq))
		if err != nil {
			return fmt.Errorf("read subscription: %w", err)
		}
		subs = append(subs, sub)
	}
	return s.moveSubscriptions(ctx, tx, id, subs, subscription.End)
}

// moveSubscriptions writes the step, the counts and the events of subscriptions that have not ended. The caller holds the counter's
// lock.
func (s Subscriptions) moveSubscriptions(ctx context.Context, tx *sqldb.Tx, id partner.ID, subs []subscription.Subscription, move subscription.Move) error {
	if len(subs) == 0 {
		return nil
	}
	set, at := `suspended_at = $3`, toMicros(s.now())
	switch move {
	case subscription.End:
		set = `ended_at = $3`
	case subscription.Suspend:
	case subscription.Resume:
		at = 0
	}
	stmt, err := tx.PrepareContext(ctx, `UPDATE subscription SET `+set+` WHERE partner_id = $1 AND seq = $2`)
	if err != nil {
		return fmt.Errorf("move subscriptions: %w", err)
	}
	defer func() { _ = stmt.Close() }() // ends with the transaction anyway
	seats := make([]seat, len(subs))
	for i, sub := range subs {
		seats[i] = seat{sub.Seq, int64(sub.Expiry)}
		if _, err := stmt.ExecContext(ctx, partnerNumber(id), sub.Seq, at); err != nil {
			return fmt.Errorf("move subscriptions: %w", err)
		}
	}
	if move == subscription.End {
		if err := s.removeActive(ctx, tx, id, seats); err != nil {
			return err
		}
	}
	return s.addMoveEvents(ctx, tx, id, move, subs)
}

// addMoveEvents tells the partner of a step. Who never was named by a user hash is named by the longer digest.
func (s Subscriptions) addMoveEvents(ctx context.Context, tx *sqldb.Tx, id partner.ID, move subscription.Move, subs []subscription.Subscription) error {
	salt, err := s.withTx(tx).partnersArea().OpenSalt(ctx, id) // through the transaction: no second connection is taken
	if err != nil {
		return err
	}
	events := make([]alert.Event, 0, len(subs))
	for _, sub := range subs {
		e, err := alert.SubscriptionMoved(id, sub, move, partner.LongUserHash(sub.Beneficiary.CPF, salt), s.now())
		if err != nil {
			return err
		}
		events = append(events, e)
	}
	return s.alertsArea().addPartnerEvents(ctx, tx, id, events...)
}
