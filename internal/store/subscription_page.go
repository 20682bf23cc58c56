package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/subscription"
)

// The numbered pages of a list are found by counting blocks. A block of level 1 holds 128 consecutive seq, one of level 2 holds
// 128 of those, one of level 3 again; each row of subscription_block tells how many in its block have not ended, and the
// counter's row how many there are in all. To find the offset-th one, walk the blocks of the top level, then those inside the
// one that contains it, and so on: at most a few hundred small rows at any depth, and the total costs nothing.
const (
	blockFan    = 128
	blockLevels = 3
)

// span is how many seq a block of a level holds.
func span(level int) int64 {
	n := int64(1)
	for range level {
		n *= blockFan
	}
	return n
}

// lockSubscriptions takes the partner's counter for the rest of the transaction and returns the last seq.
func lockSubscriptions(ctx context.Context, tx *sqldb.Tx, id partner.ID) (last int64, err error) {
	err = tx.QueryRowContext(ctx, `INSERT INTO subscription_counter (partner_id, last, active) VALUES ($1, 0, 0)
		ON CONFLICT (partner_id) DO UPDATE SET last = subscription_counter.last RETURNING last`, string(id)).Scan(&last)
	if err != nil {
		return 0, fmt.Errorf("lock subscriptions: %w", err)
	}
	return last, nil
}

// addActive counts new subscriptions in. Their seqs ascend and lie behind last, which was the highest before. The caller
// holds the counter's lock.
func (s *Store) addActive(ctx context.Context, tx *sqldb.Tx, id partner.ID, last int64, seqs []int64) error {
	if len(seqs) == 0 {
		return nil
	}
	// The whole partner waits for this lock, so what can be sent at once is.
	counts := []sqldb.Statement{{
		Query: `UPDATE subscription_counter SET last = $2, active = active + $3 WHERE partner_id = $1`,
		Args:  []any{string(id), seqs[len(seqs)-1], int64(len(seqs))},
	}}
	var fresh []blockCount // blocks that no earlier seq reached: loaded in one go
	for level := 1; level <= blockLevels; level++ {
		for _, c := range blockCounts(level, seqs, 1) {
			if c.block > last/span(level) {
				fresh = append(fresh, c)
			} else {
				counts = append(counts, changeBlock(id, c))
			}
		}
	}
	if err := tx.Run(ctx, counts); err != nil {
		return fmt.Errorf("count subscriptions: %w", err)
	}
	if len(fresh) == 0 {
		return nil
	}
	i := 0
	_, err := tx.Load(ctx, "subscription_block", []string{"partner_id", "level", "block", "active"}, func() ([]any, error) {
		if i == len(fresh) {
			return nil, nil
		}
		c := fresh[i]
		i++
		return []any{string(id), int64(c.level), c.block, c.active}, nil
	})
	return err
}

// blockCounts counts ascending seqs by block, each as much as by.
func blockCounts(level int, seqs []int64, by int64) []blockCount {
	var counts []blockCount
	width := span(level)
	for _, seq := range seqs {
		if n := len(counts); n == 0 || counts[n-1].block != seq/width {
			counts = append(counts, blockCount{level, seq / width, 0})
		}
		counts[len(counts)-1].active += by
	}
	return counts
}

type blockCount struct {
	level         int
	block, active int64
}

func changeBlock(id partner.ID, c blockCount) sqldb.Statement {
	return sqldb.Statement{
		Query: `INSERT INTO subscription_block (partner_id, level, block, active) VALUES ($1, $2, $3, $4)
		ON CONFLICT (partner_id, level, block) DO UPDATE SET active = subscription_block.active + excluded.active`,
		Args: []any{string(id), int64(c.level), c.block, c.active},
	}
}

// removeActive counts ended subscriptions out. The caller holds the counter's lock.
func (s *Store) removeActive(ctx context.Context, tx *sqldb.Tx, id partner.ID, seqs []int64) error {
	counts := []sqldb.Statement{{
		Query: `UPDATE subscription_counter SET active = active - $2 WHERE partner_id = $1`, Args: []any{string(id), int64(len(seqs))},
	}}
	slices.Sort(seqs)
	for level := 1; level <= blockLevels; level++ {
		for _, c := range blockCounts(level, seqs, -1) {
			counts = append(counts, changeBlock(id, c))
		}
	}
	if err := tx.Run(ctx, counts); err != nil {
		return fmt.Errorf("count subscriptions: %w", err)
	}
	return nil
}

// pageQuery is one statement, so that totals and rows are of one moment. c3, c2 and c1 narrow down to the block of level 1 that
// holds the offset-th row; before is how many come earlier than the block.
const pageQuery = `
WITH c3 AS (
	SELECT block, before FROM (
		SELECT block, active, sum(active) OVER (ORDER BY block) - active AS before
		FROM subscription_block WHERE partner_id = $1 AND level = 3) b
	WHERE before <= $2 AND before + active > $2),
c2 AS (
	SELECT block, before FROM (
		SELECT block, active, sum(active) OVER (ORDER BY block) - active + (SELECT before FROM c3) AS before
		FROM subscription_block WHERE partner_id = $1 AND level = 2
			AND block >= (SELECT block FROM c3) * 128 AND block < (SELECT block FROM c3) * 128 + 128) b
	WHERE before <= $2 AND before + active > $2),
c1 AS (
	SELECT block, before FROM (
		SELECT block, active, sum(active) OVER (ORDER BY block) - active + (SELECT before FROM c2) AS before
		FROM subscription_block WHERE partner_id = $1 AND level = 1
			AND block >= (SELECT block FROM c2) * 128 AND block < (SELECT block FROM c2) * 128 + 128) b
	WHERE before <= $2 AND before + active > $2)
SELECT n.active, s.seq, s.plan_id, s.start_day, s.expiry_day, s.body, s.created_at, s.suspended_at
FROM subscription_counter n LEFT JOIN (
	SELECT seq, plan_id, start_day, expiry_day, body, created_at, suspended_at FROM subscription
	WHERE partner_id = $1 AND ended_at = 0 AND seq >= (SELECT block FROM c1) * 128
	ORDER BY seq LIMIT $3 OFFSET coalesce($2 - (SELECT before FROM c1), 0)) s ON 1 = 1
WHERE n.partner_id = $1 ORDER BY s.seq`

// ActivePage returns part of a partner's subscriptions that have not ended, and how many there are.
func (s *Store) ActivePage(ctx context.Context, id partner.ID, offset int64, limit int) (subscription.Page, error) {
	page := subscription.Page{Items: []subscription.Subscription{}}
	rows, err := s.lister(ctx).QueryContext(ctx, pageQuery, string(id), offset, int64(limit))
	if err != nil {
		return page, classify(fmt.Errorf("read page: %w", err))
	}
	defer func() { _ = rows.Close() }() // Err below reports what matters
	for rows.Next() {
		var seq, start, expiry, created, suspended sql.NullInt64
		var planID sql.NullString
		var sealed []byte
		if err := rows.Scan(&page.Total, &seq, &planID, &start, &expiry, &sealed, &created, &suspended); err != nil {
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
		if err := s.openBody(id, sealed, &sub); err != nil {
			return page, err
		}
		page.Items = append(page.Items, sub)
	}
	return page, classify(rows.Err())
}
