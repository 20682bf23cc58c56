package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subscription"
)

// checkIndexes compares keyed indexes with the values behind them. What does not open is the business of checkSeals.
func (s Upkeep) checkIndexes(ctx context.Context, found func(Problem), seen func(int64)) error {
	partners, err := Partners(s).ListPartners(ctx)
	if err != nil {
		return err
	}
	modes := map[partner.ID]partner.Mode{}
	var looked int64
	walk := func(page func(mark *checkMark) (int, error)) error {
		for mark := (checkMark{}); ; {
			n, err := page(&mark)
			if err != nil {
				return fmt.Errorf("check indexes: %w", err)
			}
			looked += int64(n)
			if seen(looked); n < checkBatch {
				return nil
			}
		}
	}
	for _, p := range partners {
		modes[p.ID] = p.Mode
		err := walk(func(mark *checkMark) (int, error) { return s.checkSubscriptionIndexes(ctx, p.ID, mark, found) })
		if err != nil {
			return err
		}
	}
	return walk(func(mark *checkMark) (int, error) { return s.checkAssetIndexes(ctx, modes, mark, found) })
}

// checkMark is how far a check has come in a table.
type checkMark struct {
	seq     int64
	partner partner.ID
	id      string
}

// checkSubscriptionIndexes checks one page of a partner's subscriptions and advances after. It returns how many rows it
// read. Bodies that cannot be unsealed are left to the check of seals.
func (s Upkeep) checkSubscriptionIndexes(
	ctx context.Context, id partner.ID, after *checkMark, found func(Problem),
) (int, error) {
	type row struct {
		subscription.Subscription
		cpf, holder, body []byte
	}
	rows, err := collectRows(ctx, s.readQuerier(), func(sc scanner, r *row) error {
		return sc.Scan(&r.Seq, &r.Plan, &r.cpf, &r.holder, &r.body, &r.CreatedAt)
	}, `SELECT seq, plan_id, cpf, holder, body, created_at FROM subscription WHERE partner_id = $1 AND seq > $2
		ORDER BY seq LIMIT $3`,
		id,
		after.seq,
		checkBatch,
	)
	for _, r := range rows {
		after.seq = r.Seq
		where := fmt.Sprintf("subscription %s/%d", id, r.Seq)
		switch err := Subscriptions(s).unsealBody(id, r.cpf, r.body, &r.Subscription); {
		case errors.Is(err, errBody):
			found(Problem{"indexes", where, "its body has an unknown layout"})
		case err != nil:
		case !bytes.Equal(r.holder, Subscriptions(s).holderIndex(id, r.Holder)):
			found(Problem{"indexes", where, "its index is not that of its holder"})
		}
	}
	return len(rows), err
}

// checkAssetIndexes checks that the index and the fingerprint of one page of watched values follow from the sealed
// value, and advances after. Values that cannot be unsealed are left to the check of seals.
func (s Upkeep) checkAssetIndexes(
	ctx context.Context, modes map[partner.ID]partner.Mode, after *checkMark, found func(Problem),
) (int, error) {
	type row struct {
		cyber.Asset
		index, value []byte
		fingerprint  sql.NullInt64
		look         int64
	}
	rows, err := collectRows(ctx, s.readQuerier(), func(sc scanner, r *row) error {
		return sc.Scan(&r.ID, &r.Partner, &r.Kind, &r.index, &r.fingerprint, &r.look, &r.value)
	}, `SELECT id, partner_id, kind, value_index, fingerprint, look, value FROM asset
		WHERE (partner_id, id) > ($1, $2) ORDER BY partner_id, id LIMIT $3`,
		after.partner,
		after.id,
		checkBatch,
	)
	for _, r := range rows {
		after.partner, after.id = r.Partner, string(r.ID)
		check := identifier.Required
		if modes[r.Partner].Has(partner.AnyCheckDigits) {
			check = identifier.Waived
		}
		if Monitoring(s).openAssetValue(&r.Asset, r.value) != nil {
			continue
		}
		normal, err := identifier.ParseValue(r.Kind, r.Value, check)
		switch {
		case err != nil:
			found(Problem{"indexes", "asset " + string(r.ID), "its value is not valid any more"})
		case !bytes.Equal(r.index, Monitoring(s).valueIndex(r.Partner, r.Kind, normal)):
			found(Problem{"indexes", "asset " + string(r.ID), "its index is not that of its value"})
		case r.fingerprint.Valid && s.unveilFingerprint(r.Partner, r.fingerprint.Int64) !=
			s.keys.Fingerprint(byte(r.Kind), identifier.MatchForm(r.Kind, normal)):
			found(
				Problem{
					"indexes",
					"asset " + string(r.ID),
					"its fingerprint is not that of its value: leaks are not found",
				},
			)
		case r.fingerprint.Valid && r.look == lookWaiting:
			found(
				Problem{
					"indexes",
					"asset " + string(r.ID),
					"it waits for its first look and can be matched all the same",
				},
			)
		case !r.fingerprint.Valid && r.look != lookWaiting && !modes[r.Partner].Has(partner.MagicValues):
			found(Problem{"indexes", "asset " + string(r.ID), "it has no fingerprint: leaks are not found"})
		}
	}
	return len(rows), err
}
