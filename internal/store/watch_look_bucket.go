package store

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/subscription"
)

// bucketColumns are those that scanBucket expects, in its order.
const bucketColumns = `partner_id, tokens, onboarded, granted, refilled_at, subscriptions, counted_at, told, mac`

// scanBucket reads the row of a partner's first looks and checks that this program wrote it.
func (s Monitoring) scanBucket(row scanner, r *checked[cyber.LookBucket]) error {
	b := &r.value
	var id partner.ID
	err := row.Scan(
		&id,
		&b.Tokens,
		&b.Onboarded,
		&b.Granted,
		&b.RefilledAt,
		&b.Subscriptions,
		&b.CountedAt,
		&b.Told,
		s.checksMAC(&r.forged, "first_look", func() *grant { return bucketGrant(id, *b) }),
	)
	r.row = "first_look " + string(id)
	return err
}

// bucketGrant covers all that decides how much a partner may learn.
func bucketGrant(id partner.ID, b cyber.LookBucket) *grant {
	return new(grant).addTexts(string(id), string(b.Told)).addNumbers(
		b.Tokens,
		b.Onboarded,
		b.Granted,
		toMicros(b.RefilledAt),
		b.Subscriptions,
		toMicros(b.CountedAt),
	)
}

// insertBucket stores the full bucket of a new partner. There is no other way to a bucket: if a missing one were made
// anew, deleting the row would refill it.
func (s Monitoring) insertBucket(ctx context.Context, tx *sqldb.Tx, id partner.ID) error {
	b := cyber.NewLookBucket(s.now())
	return execStatement(
		ctx,
		tx,
		`INSERT INTO first_look (`+bucketColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		id,
		b.Tokens,
		b.Onboarded,
		b.Granted,
		b.RefilledAt,
		b.Subscriptions,
		b.CountedAt,
		b.Told,
		s.grantMAC("first_look", bucketGrant(id, b)),
	)
}

// lockBucket returns a partner's bucket, locked until the transaction ends.
func (s Monitoring) lockBucket(ctx context.Context, tx *sqldb.Tx, id partner.ID) (cyber.LookBucket, error) {
	return readGenuine(ctx, tx, s.scanBucket, forgedRowError("first_look", string(id)),
		`UPDATE first_look SET tokens = tokens WHERE partner_id = $1 RETURNING `+bucketColumns, id)
}

// keepBucket stores a bucket that lockBucket returned.
func (s Monitoring) keepBucket(ctx context.Context, tx *sqldb.Tx, id partner.ID, b cyber.LookBucket) error {
	return execStatement(ctx, tx, `UPDATE first_look SET tokens = $2, onboarded = $3, granted = $4, refilled_at = $5,
		subscriptions = $6, counted_at = $7, told = $8, mac = $9 WHERE partner_id = $1`,
		id,
		b.Tokens,
		b.Onboarded,
		b.Granted,
		b.RefilledAt,
		b.Subscriptions,
		b.CountedAt,
		b.Told,
		s.grantMAC("first_look", bucketGrant(id, b)),
	)
}

// changeBucket changes a partner's bucket under its lock.
func (s Monitoring) changeBucket(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, change func(*cyber.LookBucket),
) error {
	b, err := s.lockBucket(ctx, tx, id)
	if err != nil {
		return err
	}
	change(&b)
	return s.keepBucket(ctx, tx, id, b)
}

// LookBucket returns a partner's bucket with what this process holds of it: see cyber.LookStore.
func (s Monitoring) LookBucket(ctx context.Context, id partner.ID) (cyber.LookBucket, error) {
	b, err := readGenuine(ctx, s.readQuerier(), s.scanBucket, forgedRowError("first_look", string(id)),
		`SELECT `+bucketColumns+` FROM first_look WHERE partner_id = $1`, id)
	s.looks.changeHeld(id, func(l *heldLook) { b.Tokens += l.tokens })
	return b, err
}

// GrantLooks adds tokens: see cyber.LookStore.
func (s Monitoring) GrantLooks(ctx context.Context, id partner.ID, count int64) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		return s.changeBucket(ctx, tx, id, func(b *cyber.LookBucket) { b.Granted += count })
	})
}

// countEvery is how often the subscriptions that give tokens are counted.
const countEvery = 24 * time.Hour

// CountSubscriptions counts those that give tokens: see cyber.LookStore.
func (s Monitoring) CountSubscriptions(ctx context.Context, id partner.ID) error {
	now := s.now()
	b, err := s.LookBucket(ctx, id)
	if err != nil || b.CountedAt.Add(countEvery).After(now) {
		return err
	}
	since := now.Add(-cyber.LookSubscriptionAge)
	n, err := readValue[int64](ctx, s.listQuerier(), `SELECT count(*) FROM subscription
		WHERE partner_id = $1 AND ended_at = 0 AND suspended_at = 0
		AND created_at <= $2 AND start_day <= $3 AND (expiry_day = 0 OR expiry_day >= $4)`,
		id,
		since,
		subscription.DayInBrazil(since),
		subscription.DayInBrazil(now),
	)
	if err != nil {
		return err
	}
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		return s.changeBucket(ctx, tx, id, func(b *cyber.LookBucket) {
			b.Subscriptions = n
			b.CountedAt = now
		})
	})
}
