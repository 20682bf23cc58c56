package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
)

// seat is where a subscription stands in its partner's list, and until when.
type seat struct{ seq, expiry int64 }

// scanSeatRow reads where a subscription is counted.
func scanSeatRow(row scanner) (s seat, err error) {
	err = row.Scan(&s.seq, &s.expiry)
	return s, err
}

// countActiveIn counts new subscriptions in. Their seqs ascend and lie behind last, which was the highest before. The
// caller holds the counter's lock.
func (s Subscriptions) countActiveIn(ctx context.Context, tx *sqldb.Tx, id partner.ID, last int64, seats []seat) error {
	if len(seats) == 0 {
		return nil
	}
	// The whole partner waits for this lock, so what can be sent at once is.
	counts := []sqldb.Statement{{
		Query: `UPDATE subscription_counter SET last = $2, active = active + $3 WHERE partner_id = $1`,
		Args:  []any{partnerNumber(id), seats[len(seats)-1].seq, int64(len(seats))},
	}}
	var fresh []blockCount // blocks that no earlier seq reached: loaded in one go
	for level := 1; level <= blockLevels; level++ {
		for _, c := range blockCounts(level, seats, 1) {
			if c.block > last/blockSpan(level) {
				fresh = append(fresh, c)
			} else {
				counts = append(counts, changeBlock(id, c))
			}
		}
	}
	if err := tx.RunStatements(ctx, append(counts, countEndsIn(id, seats)...)); err != nil {
		return fmt.Errorf("count subscriptions: %w", err)
	}
	if len(fresh) == 0 {
		return nil
	}
	i := 0
	_, err := tx.InsertRows(ctx, "subscription_block", []string{"partner_id", "level", "block", "active"}, func() ([]any, error) {
		if i == len(fresh) {
			return nil, nil
		}
		c := fresh[i]
		i++
		return []any{partnerNumber(id), int64(c.level), c.block, c.active}, nil
	})
	return err
}

// blockCounts counts ascending seqs by block, each as much as by.
func blockCounts(level int, seats []seat, by int64) []blockCount {
	var counts []blockCount
	width := blockSpan(level)
	for _, s := range seats {
		if n := len(counts); n == 0 || counts[n-1].block != s.seq/width {
			counts = append(counts, blockCount{level: level, block: s.seq / width})
		}
		counts[len(counts)-1].active += by
	}
	return counts
}

// blockCount is a change of one counter: how many subscriptions of a block are active, or expire on a day.
type blockCount struct {
	level              int
	block, day, active int64
}

// expiryCounts counts what has an end by block and day. Level 1 is left out: with as many days as subscriptions it
// would be a second row for each of them, and counting one block of level 2 in the index is quick.
func expiryCounts(seats []seat) []blockCount {
	type key struct {
		level      int
		block, day int64
	}
	sums := map[key]int64{}
	for _, s := range seats {
		if s.expiry == 0 {
			continue
		}
		for level := 2; level <= blockLevels; level++ {
			sums[key{level, s.seq / blockSpan(level), s.expiry}]++
		}
	}
	counts := make([]blockCount, 0, len(sums))
	for k, n := range sums {
		counts = append(counts, blockCount{k.level, k.block, k.day, n})
	}
	slices.SortFunc(counts, func(a, b blockCount) int {
		return cmp.Or(a.level-b.level, cmp.Compare(a.block, b.block), cmp.Compare(a.day, b.day))
	})
	return counts
}

// changeBlock returns the statement that adds to a block's counter, and creates the counter if needed.
func changeBlock(id partner.ID, c blockCount) sqldb.Statement {
	return sqldb.Statement{
		Query: `INSERT INTO subscription_block (partner_id, level, block, active) VALUES ($1, $2, $3, $4)
		ON CONFLICT (partner_id, level, block) DO UPDATE SET active = subscription_block.active + excluded.active`,
		Args: []any{partnerNumber(id), int64(c.level), c.block, c.active},
	}
}

// removeActive counts ended subscriptions out. The caller holds the counter's lock.
func (s Subscriptions) removeActive(ctx context.Context, tx *sqldb.Tx, id partner.ID, seats []seat) error {
	slices.SortFunc(seats, func(a, b seat) int { return cmp.Compare(a.seq, b.seq) })
	counts := []sqldb.Statement{{
		Query: `UPDATE subscription_counter SET active = active - $2 WHERE partner_id = $1`, Args: []any{partnerNumber(id), int64(len(seats))},
	}}
	for level := 1; level <= blockLevels; level++ {
		for _, c := range blockCounts(level, seats, -1) {
			counts = append(counts, changeBlock(id, c))
		}
	}
	err := tx.RunStatements(ctx, append(counts, countEndsOut(id, seats)...))
	return wrapError("count subscriptions", err)
}

// countEndsIn counts the ends of subscriptions in, endsOut counts them out.
func countEndsIn(id partner.ID, seats []seat) (counts []sqldb.Statement) {
	for _, c := range expiryCounts(seats) {
		counts = append(counts, sqldb.Statement{
			Query: `INSERT INTO subscription_expiry (partner_id, level, block, expiry_day, active) VALUES ($1, $2, $3, $4, $5)
				ON CONFLICT (partner_id, level, block, expiry_day) DO UPDATE SET active = subscription_expiry.active + excluded.active`,
			Args: []any{partnerNumber(id), int64(c.level), c.block, c.day, c.active},
		})
	}
	return counts
}

// countEndsOut undoes countEndsIn.
func countEndsOut(id partner.ID, seats []seat) (counts []sqldb.Statement) {
	for _, c := range expiryCounts(seats) {
		const row = ` WHERE partner_id = $1 AND level = $2 AND block = $3 AND expiry_day = $4`
		key := []any{partnerNumber(id), int64(c.level), c.block, c.day}
		counts = append(counts,
			sqldb.Statement{Query: `UPDATE subscription_expiry SET active = active - $5` + row, Args: append(key, c.active)},
			// Days that have gone by would add up, and every page would read them.
			sqldb.Statement{Query: `DELETE FROM subscription_expiry` + row + ` AND active <= 0`, Args: key})
	}
	return counts
}
