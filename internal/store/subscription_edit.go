package store

import (
	"context"
	"fmt"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/subscription"
)

// EditSubscription changes what a partner may change of a subscription in force: see subscription.Changes.
func (s Subscriptions) EditSubscription(ctx context.Context, id partner.ID, which subscription.Selection,
	change func(*subscription.Subscription) error,
) (subscription.Subscription, error) {
	var sub subscription.Subscription
	err := s.runInTx(ctx, func(tx *sqldb.Tx) error {
		if _, err := lockSubscriptions(ctx, tx, id); err != nil {
			return err
		}
		found, err := s.readSelected(ctx, tx, id, which, 0, 1)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return subscription.ErrNotFound
		}
		sub = found[0]
		before := sub
		if err := change(&sub); err != nil {
			return err
		}
		place := subscriptionPlace(id, s.blindCPFIndex(id, sub.Beneficiary.CPF), sub.Plan, toMicros(sub.CreatedAt))
		sealed, err := s.keys.Seal(place, appendBody(nil, &sub))
		if err != nil {
			return fmt.Errorf("seal subscription: %w", err)
		}
		if err := execStatement(ctx, tx, "edit subscription", `UPDATE subscription SET expiry_day = $3, body = $4 WHERE partner_id = $1 AND seq = $2`,
			partnerNumber(id), sub.Seq, int64(sub.Expiry), sealed); err != nil {
			return err
		}
		if before.Expiry == sub.Expiry {
			return nil
		}
		ends := append(countEndsOut(id, []seat{{sub.Seq, int64(before.Expiry)}}), countEndsIn(id, []seat{{sub.Seq, int64(sub.Expiry)}})...)
		err = tx.RunStatements(ctx, ends)
		return wrapError("count subscriptions", err)
	})
	return sub, err
}
