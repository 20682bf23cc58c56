package store

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/subscription"
)

// EndOwnKey ends a live key and tells of it.
func (s Devices) EndOwnKey(
	ctx context.Context, id partner.ID, key cyber.KeyID, reason cyber.EndReason,
) (cyber.Device, error) {
	return runReturning(
		ctx,
		s.core,
		func(tx *sqldb.Tx) (cyber.Device, error) { return s.endLiveKey(ctx, tx, id, key, reason, "") },
	)
}

// endLiveKey ends a live key in the transaction of the caller.
func (s Devices) endLiveKey(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, key cyber.KeyID, reason cyber.EndReason, movedTo cyber.KeyID,
) (cyber.Device, error) {
	now := s.now()
	d, err := s.lockLiveKey(ctx, tx, id, key, now)
	if err != nil {
		return d, err
	}
	d.EndedAt, d.EndReason = now, reason
	return d, s.endKeysOfPartner(ctx, tx, id, []cyber.Device{d}, movedTo)
}

// endKeysOfPartner stores when and why keys of one partner ended, and tells of each; movedTo is the key that took the
// place of the only one.
func (s Devices) endKeysOfPartner(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, keys []cyber.Device, movedTo cyber.KeyID,
) error {
	events := make([]alert.Event, len(keys))
	for i, d := range keys {
		err := execStatement(ctx, tx,
			`UPDATE epp_key SET ended_at = $3, end_reason = $4, next_warning = 0 WHERE partner_id = $1 AND id = $2`,
			id, d.ID, d.EndedAt, d.EndReason)
		if err != nil {
			return err
		}
		if d.EndReason == cyber.EndRevoked && d.ActivatedAt.IsZero() {
			if err := s.returnKeyToPool(ctx, tx, d); err != nil {
				return err
			}
		}
		events[i] = alert.NewKeyEndEvent(d, s.now(), movedTo)
	}
	return Alerts(s).addPartnerEvents(ctx, tx, id, events...)
}

// endExpired makes room in the unique index for keys that follow others.
func (s Devices) endExpired(ctx context.Context, tx *sqldb.Tx, id partner.ID, u user) error {
	over, err := collectRows(ctx, tx, s.scanDevice, `SELECT `+deviceColumns+` FROM epp_key
		WHERE partner_id = $1 AND user_index IN ($2, $3) AND ended_at = 0 AND valid_until <= $4 ORDER BY id`,
		id,
		u.write,
		u.other,
		s.now(),
	)
	if err != nil {
		return err
	}
	return s.endKeysOfPartner(ctx, tx, id, markExpired(over), "")
}

// markExpired are keys as they are after their time.
func markExpired(keys []cyber.Device) []cyber.Device {
	for i := range keys {
		keys[i].EndedAt, keys[i].EndReason = keys[i].ValidUntil, cyber.EndExpired
	}
	return keys
}

// EndUnsubscribed ends the keys that were to end with the last subscription of their plan, and tells of each. It looks
// outside of transactions, a page at a time, and ends what it found in those of a few keys of one partner.
func (s Devices) EndUnsubscribed(ctx context.Context) (int, error) {
	const alone = ` AND ended_at = 0 AND plan_id <> '' AND NOT EXISTS (
		SELECT 1 FROM person r JOIN subscription b ON b.partner_id = r.partner_id AND b.cpf = r.cpf
		WHERE r.partner_id = epp_key.partner_id AND (r.user_512 = epp_key.user_index OR r.user_256 = epp_key.user_index)
			AND b.plan_id = epp_key.plan_id AND b.ended_at = 0 AND (b.expiry_day = 0 OR b.expiry_day >= $3))`
	today, total := int64(subscription.DayInBrazil(s.now())), 0
	for after, last := partner.ID(""), cyber.KeyID(""); ; {
		keys, err := collectOwned[cyber.KeyID](
			ctx,
			s.readQuerier(),
			`SELECT partner_id, id FROM epp_key WHERE (partner_id, id) > ($1, $2)`+alone+`
			ORDER BY partner_id, id LIMIT $4`,
			after,
			last,
			today,
			noticeBatch,
		)
		if err != nil {
			return total, err
		}
		for id, own := range groupByPartner(keys) {
			err := inEventParts(ctx, s.core, id, own, func(tx *sqldb.Tx, part []cyber.KeyID) error {
				args := []any{id, "", today} // the place of an id in the query above
				ended, err := collectRows(
					ctx,
					tx,
					s.scanDevice,
					`SELECT `+deviceColumns+` FROM epp_key WHERE partner_id = $1 AND id > $2`+alone+`
					AND id `+inList(tx.EngineName(), &args, part)+` ORDER BY id`+s.db.SkipLocked(),
					args...,
				)
				if err != nil {
					return err
				}
				for i := range ended {
					ended[i].EndedAt, ended[i].EndReason = s.now(), cyber.EndSubscription
				}
				tx.AfterCommit(func() { total += len(ended) })
				return s.endKeysOfPartner(ctx, tx, id, ended, "")
			})
			if err != nil {
				return total, err
			}
		}
		if len(keys) < noticeBatch {
			return total, nil
		}
		after, last = keys[len(keys)-1].partner, keys[len(keys)-1].id
	}
}

// sweepDevices removes keys that ended, by their time or before it. The time of a key is never put off.
func sweepDevices(ctx context.Context, tx *sqldb.Tx, before, limit int64) (int64, error) {
	keys, err := collectRows(
		ctx,
		tx,
		func(row scanner, key *[]any) error { return scanKey(row, key, 3) },
		`SELECT partner_id, id, key_index FROM epp_key WHERE valid_until <= $1 ORDER BY valid_until LIMIT $2`,
		before,
		limit,
	)
	if err != nil {
		return 0, err
	}
	var list sqldb.Statements
	for _, key := range keys {
		list.Add(
			`UPDATE epp_pool SET taken_by = $1 WHERE key_index = $2 AND taken_by = $3`,
			takenByErased,
			key[2],
			key[1],
		)
		list.Add(`DELETE FROM epp_key WHERE partner_id = $1 AND id = $2`, key[0], key[1])
	}
	return int64(len(keys)), tx.RunStatements(ctx, list)
}
