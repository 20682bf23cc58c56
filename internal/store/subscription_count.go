package store

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// blockSpan is how many consecutive seq a block holds. The numbered pages of a list are found by counting blocks: each
// row of subscription_block says how many of its block have not ended. To find the offset-th subscription, the blocks
// are added up until one contains it, and the rest is skipped inside that block. A partner of five million has 1,221
// blocks; smaller ones would take longer to add up than they save in skipping: see design note 0020.
//
// A subscription is active until its expiry date is over, whether the sweep has ended it yet or not. So every count is
// taken less what is past its day: subscription_expiry says how many of a block are over after each day, and holds no
// past day once the sweep has been by.
const blockSpan = 4096

// lockSubscriptions takes the partner's counter for the rest of the transaction and returns the last seq.
func lockSubscriptions(ctx context.Context, tx *sqldb.Tx, id partner.ID) (last int64, err error) {
	return readValue[int64](ctx, tx, `INSERT INTO subscription_counter (partner_id, last, active) VALUES ($1, 0, 0)
		ON CONFLICT (partner_id) DO UPDATE SET last = subscription_counter.last RETURNING last`,
		id,
	)
}

// seat is where a subscription stands in its partner's list, and until when.
type seat struct{ seq, expiry int64 }

// countActiveIn counts new subscriptions in. Their seqs ascend. The caller holds the counter's lock.
func (s Subscriptions) countActiveIn(ctx context.Context, tx *sqldb.Tx, id partner.ID, seats []seat) error {
	if len(seats) == 0 {
		return nil
	}
	// The whole partner waits for this lock, so what can be sent at once is.
	counts := sqldb.Statements{
		sqldb.NewStatement(
			`UPDATE subscription_counter SET last = $2, active = active + $3 WHERE partner_id = $1`,
			id,
			seats[len(seats)-1].seq,
			len(seats),
		),
	}
	counts = append(counts, changeBlocks(id, seats, 1)...)
	counts = append(counts, countEndsIn(id, seats)...)
	return tx.RunStatements(ctx, counts)
}

// removeActive counts ended subscriptions out. The caller holds the counter's lock.
func (s Subscriptions) removeActive(ctx context.Context, tx *sqldb.Tx, id partner.ID, seats []seat) error {
	counts := sqldb.Statements{
		sqldb.NewStatement(
			`UPDATE subscription_counter SET active = active - $2 WHERE partner_id = $1`,
			id,
			len(seats),
		),
	}
	counts = append(counts, changeBlocks(id, seats, -1)...)
	counts = append(counts, countEndsOut(id, seats)...)
	return tx.RunStatements(ctx, counts)
}

// changeBlocks returns the statements that change the counter of each seat's block, and create it if needed.
func changeBlocks(id partner.ID, seats []seat, by int64) (changes sqldb.Statements) {
	sums := map[int64]int64{}
	for _, s := range seats {
		sums[s.seq/blockSpan] += by
	}
	for _, block := range slices.Sorted(maps.Keys(sums)) {
		changes.Add(
			`INSERT INTO subscription_block (partner_id, block, active) VALUES ($1, $2, $3)
			ON CONFLICT (partner_id, block) DO UPDATE SET active = subscription_block.active + excluded.active`,
			id,
			block,
			sums[block],
		)
	}
	return changes
}

// expiryCount is how many subscriptions of a block are over after a day.
type expiryCount struct{ block, day, active int64 }

// countExpiries counts those of the seats that have an end, by block and day.
func countExpiries(seats []seat) []expiryCount {
	type blockDay struct{ block, day int64 }
	sums := map[blockDay]int64{}
	for _, s := range seats {
		if s.expiry != 0 {
			sums[blockDay{s.seq / blockSpan, s.expiry}]++
		}
	}
	counts := make([]expiryCount, 0, len(sums))
	for k, n := range sums {
		counts = append(counts, expiryCount{k.block, k.day, n})
	}
	slices.SortFunc(counts, func(a, b expiryCount) int {
		return cmp.Or(cmp.Compare(a.block, b.block), cmp.Compare(a.day, b.day))
	})
	return counts
}

// countEndsIn returns the statements that count the ends of subscriptions in.
func countEndsIn(id partner.ID, seats []seat) (counts sqldb.Statements) {
	for _, c := range countExpiries(seats) {
		counts.Add(
			`INSERT INTO subscription_expiry (partner_id, block, expiry_day, active) VALUES ($1, $2, $3, $4)
			ON CONFLICT (partner_id, expiry_day, block)
			DO UPDATE SET active = subscription_expiry.active + excluded.active`,
			id,
			c.block,
			c.day,
			c.active,
		)
	}
	return counts
}

// countEndsOut undoes countEndsIn.
func countEndsOut(id partner.ID, seats []seat) (counts sqldb.Statements) {
	for _, c := range countExpiries(seats) {
		counts = append(
			counts,
			sqldb.NewStatement(
				`UPDATE subscription_expiry SET active = active - $4
				WHERE partner_id = $1 AND block = $2 AND expiry_day = $3`,
				id,
				c.block,
				c.day,
				c.active,
			),
			// Days that have gone by would add up, and every page would read them.
			sqldb.NewStatement(
				`DELETE FROM subscription_expiry
				WHERE partner_id = $1 AND block = $2 AND expiry_day = $3 AND active <= 0`,
				id,
				c.block,
				c.day,
			),
		)
	}
	return counts
}
