package store

import (
	"context"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/subscription"
)

// EditSubscription changes what a partner may change of a subscription in force: see subscription.Changes.
func (s Subscriptions) EditSubscription(ctx context.Context, id partner.ID, which subscription.Selection,
	change func(*subscription.Subscription) error,
) (subscription.Subscription, error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (sub subscription.Subscription, err error) {
		if _, err := lockSubscriptions(ctx, tx, id); err != nil {
			return sub, err
		}
		found, err := s.readSelected(ctx, tx, id, which, 0, 1)
		if err != nil {
			return sub, err
		}
		if len(found) == 0 {
			return sub, subscription.ErrNotFound
		}
		sub = found[0]
		before := sub
		if err := change(&sub); err != nil {
			return sub, err
		}
		if changed := before.ChangedKinds(sub); changed != 0 {
			// What is said anew is watched as the plan says today; what is not stays as it is.
			sold, err := s.checkedPlan(ctx, tx, id, sub.Plan)
			if err != nil {
				return sub, err
			}
			sub.Watch = sub.Watch&^changed | sold.value.Watch&changed
		}
		cpf := s.blindCPFIndex(id, sub.Beneficiary.CPF)
		sealed, err := s.sealBody(subscriptionPlace(id, cpf, sub.Plan, toMicros(sub.CreatedAt)), &sub)
		if err != nil {
			return sub, err
		}
		err = execStatement(ctx, tx,
			`UPDATE subscription SET expiry_day = $3, watch = $4, body = $5 WHERE partner_id = $1 AND seq = $2`,
			id, sub.Seq, sub.Expiry, sub.Watch, sealed)
		if err != nil {
			return sub, err
		}
		if before.ChangedKinds(sub) != 0 && before.Watch|sub.Watch != 0 {
			if err := s.settleWatches(ctx, tx, id, [][]byte{cpf}, nil); err != nil {
				return sub, err
			}
		}
		if before.Expiry == sub.Expiry {
			return sub, nil
		}
		ends := append(
			countEndsOut(id, []seat{{sub.Seq, int64(before.Expiry)}}),
			countEndsIn(id, []seat{{sub.Seq, int64(sub.Expiry)}})...,
		)
		return sub, tx.RunStatements(ctx, ends)
	})
}
