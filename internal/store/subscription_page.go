package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/subscription"
)

// The numbered pages of a list are found by counting blocks. A block of level 1 holds 128 consecutive seq, one of level
// 2 holds 128 of those, one of level 3 again; each row of subscription_block tells how many in its block have not
// ended, and the counter's row how many there are in all. To find the offset-th one, walk the blocks of the top level,
// then those inside the one that contains it, and so on: at most a few hundred small rows at any depth.
//
// A subscription is active until its expiry date is over, whether the sweep has ended it yet or not. So every count is
// taken less what is past its day: subscription_expiry tells how many of a block are over after each day, and holds no
// past day once the sweep has been by.
const (
	blockFan    = 128
	blockLevels = 3
)

// blockSpan returns how many seq a block of a level holds.
func blockSpan(level int) int64 {
	n := int64(1)
	for range level {
		n *= blockFan
	}
	return n
}

// lockSubscriptions takes the partner's counter for the rest of the transaction and returns the last seq.
func lockSubscriptions(ctx context.Context, tx *sqldb.Tx, id partner.ID) (last int64, err error) {
	err = tx.QueryRowContext(ctx, `INSERT INTO subscription_counter (partner_id, last, active) VALUES ($1, 0, 0)
		ON CONFLICT (partner_id) DO UPDATE SET last = subscription_counter.last RETURNING last`, partnerNumber(id)).Scan(&last)
	return last, wrapError("lock subscriptions", err)
}

// lastDay is the last day on which a subscription is active, in the words of the index subscription_active; a day that
// no date reaches stands for no end.
const lastDay = `(CASE WHEN expiry_day = 0 THEN 4000000 ELSE expiry_day END)`

// pageQuery is one statement, so that totals and rows are of one moment. b3, b2 and b1 are blocks with how many in them
// are active on day $4; c3, c2 and c1 narrow down to the block of level 1 that holds the offset-th row, and before is
// how many come earlier than it. SQLite has to be told to compute each part once, and by CROSS JOIN to begin with the
// few past days and not with all that is past. It is kept prepared, as reading the text costs SQLite six times as much
// as running it; LIMIT has a CAST because SQLite reads a text again whenever the number of a bare one is bound.
const pageQuery = `
WITH b3 AS MATERIALIZED (
	SELECT b.block, b.active - coalesce((SELECT sum(e.active) FROM subscription_expiry e
		WHERE e.partner_id = $1 AND e.level = 3 AND e.block = b.block AND e.expiry_day < $4), 0) AS active
	FROM subscription_block b WHERE b.partner_id = $1 AND b.level = 3),
c3 AS MATERIALIZED (
	SELECT block, before FROM (SELECT block, active, sum(active) OVER (ORDER BY block) - active AS before FROM b3) w
	WHERE before <= $2 AND before + active > $2),
b2 AS MATERIALIZED (
	SELECT b.block, b.active - coalesce((SELECT sum(e.active) FROM subscription_expiry e
		WHERE e.partner_id = $1 AND e.level = 2 AND e.block = b.block AND e.expiry_day < $4), 0) AS active
	FROM subscription_block b WHERE b.partner_id = $1 AND b.level = 2
		AND b.block >= (SELECT block FROM c3) * 128 AND b.block < (SELECT block FROM c3) * 128 + 128),
c2 AS MATERIALIZED (
	SELECT block, before FROM (
		SELECT block, active, sum(active) OVER (ORDER BY block) - active + (SELECT before FROM c3) AS before FROM b2) w
	WHERE before <= $2 AND before + active > $2),
past AS MATERIALIZED (
	SELECT s.seq / 128 AS block, count(*) AS n FROM subscription_expiry e CROSS JOIN subscription s
	WHERE e.partner_id = $1 AND e.level = 2 AND e.block = (SELECT block FROM c2) AND e.expiry_day < $4
		AND s.partner_id = $1 AND s.ended_at = 0 AND s.expiry_day > 0 AND s.expiry_day = e.expiry_day
		AND s.seq >= (SELECT block FROM c2) * 16384 AND s.seq < (SELECT block FROM c2) * 16384 + 16384
	GROUP BY s.seq / 128),
c1 AS MATERIALIZED (
	SELECT block, before FROM (
		SELECT block, active, sum(active) OVER (ORDER BY block) - active + (SELECT before FROM c2) AS before FROM (
			SELECT b.block, b.active - coalesce(past.n, 0) AS active
			FROM subscription_block b LEFT JOIN past ON past.block = b.block WHERE b.partner_id = $1 AND b.level = 1
				AND b.block >= (SELECT block FROM c2) * 128 AND b.block < (SELECT block FROM c2) * 128 + 128) b1) w
	WHERE before <= $2 AND before + active > $2)
SELECT t.total, s.seq, s.cpf, s.plan_id, s.start_day, s.expiry_day, s.body, s.created_at, s.suspended_at
FROM (SELECT CAST(coalesce(sum(active), 0) AS BIGINT) AS total FROM b3) t LEFT JOIN (
	SELECT seq, cpf, plan_id, start_day, expiry_day, body, created_at, suspended_at FROM subscription
	WHERE partner_id = $1 AND ended_at = 0 AND ` + lastDay + ` >= $4 AND seq >= (SELECT block FROM c1) * 128
	ORDER BY seq LIMIT CAST($3 AS BIGINT) OFFSET coalesce($2 - (SELECT before FROM c1), 0)) s ON 1 = 1
ORDER BY s.seq`

// ActivePage returns part of a partner's subscriptions that have not ended and are not past their expiry date, and how
// many there are.
func (s Subscriptions) ActivePage(ctx context.Context, id partner.ID, offset int64, limit int) (subscription.Page, error) {
	page := subscription.Page{Items: []subscription.Subscription{}}
	rows, err := s.listQuerier().QueryContext(ctx, pageQuery, partnerNumber(id), offset, int64(limit), int64(subscription.DayInBrazil(s.now())))
	if err != nil {
		return page, classifyError(fmt.Errorf("read page: %w", err))
	}
	defer func() { _ = rows.Close() }() // Err below reports what matters
	for rows.Next() {
		var seq, start, expiry, created, suspended sql.NullInt64
		var planID sql.NullString
		var cpf, sealed []byte
		if err := rows.Scan(&page.Total, &seq, &cpf, &planID, &start, &expiry, &sealed, &created, &suspended); err != nil {
			return page, fmt.Errorf("read page: %w", err)
		}
		if !seq.Valid { // past the end
			continue
		}
		sub := subscription.Subscription{
			Seq: seq.Int64, Start: subscription.Day(start.Int64), Expiry: subscription.Day(expiry.Int64),
			CreatedAt: fromMicros(created.Int64), SuspendedAt: fromMicros(suspended.Int64),
		}
		sub.Plan = plan.ID(planID.String)
		if err := s.unsealBody(id, cpf, sealed, &sub); err != nil {
			return page, err
		}
		page.Items = append(page.Items, sub)
	}
	return page, classifyError(rows.Err())
}
