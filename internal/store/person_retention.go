package store

import (
	"context"
	"fmt"
	"time"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// Retention is how long what has served its purpose is kept; zero keeps a class for ever.
type Retention struct {
	// Attempts is the log of deliveries' tries, with what receivers answered.
	Attempts time.Duration
	// Subscriptions counts from their end.
	Subscriptions time.Duration
	// Cases counts from when they were closed.
	Cases time.Duration
	// Devices counts from the day up to which their keys were valid, ended before or not.
	Devices time.Duration
	// Scores counts from their day.
	Scores time.Duration
	// Jobs counts from when they finished.
	Jobs time.Duration
	// Audit counts from the line's time.
	Audit time.Duration
}

// SweepExpired removes what is past its time and returns how many rows went, by what they were. Many processes may
// sweep at once. What no index leads to is looked for outside of transactions: see sweepFound.
func (s Upkeep) SweepExpired(ctx context.Context, r Retention) (map[string]int64, error) {
	removed := map[string]int64{}
	type sweepStep = func(ctx context.Context, tx *sqldb.Tx, before, limit int64) (int64, error)
	inBatches := func(step sweepStep) func(int64) (int64, error) {
		return func(before int64) (int64, error) {
			return s.runInBatches(ctx, sweepBatch, func(tx *sqldb.Tx, _, limit int64) (int64, error) {
				return step(ctx, tx, before, limit)
			})
		}
	}
	for _, class := range []struct {
		name  string
		keep  time.Duration
		sweep func(before int64) (int64, error)
	}{
		{"attempts", r.Attempts, func(before int64) (int64, error) { return s.sweepAttempts(ctx, before) }},
		{"subscriptions", r.Subscriptions, func(before int64) (int64, error) {
			return s.sweepSubscriptions(ctx, before)
		}},
		{"cases", r.Cases, func(before int64) (int64, error) { return s.sweepCases(ctx, before) }},
		{"devices", r.Devices, inBatches(sweepDevices)},
		{"scores", r.Scores, func(before int64) (int64, error) {
			return s.sweepFound(ctx, found{
				table: "score_day",
				key:   "partner_id, user_index, day",
				first: []any{0, []byte{}, 0},
				args:  []any{dayOfMicros(before)},
				where: ` AND day < $4`,
			})
		}},
		{"jobs", r.Jobs, inBatches(func(ctx context.Context, tx *sqldb.Tx, before, limit int64) (int64, error) {
			return execCounting(ctx, tx, `DELETE FROM job WHERE finished_at > 0 AND finished_at <= $1
				AND id IN (SELECT id FROM job WHERE finished_at > 0 AND finished_at <= $1 LIMIT $2)`,
				before,
				limit,
			)
		})},
	} {
		if class.keep <= 0 {
			continue
		}
		n, err := class.sweep(toMicros(s.now().Add(-class.keep)))
		if err != nil {
			return removed, fmt.Errorf("sweep %s: %w", class.name, err)
		}
		removed[class.name] = n
	}
	for _, sweep := range []func(context.Context) error{s.sweepEventGaps, s.sweepNames, s.sweepPeople} {
		if err := sweep(ctx); err != nil {
			return removed, err
		}
	}
	if r.Audit <= 0 {
		return removed, nil
	}
	n, err := Audit(s).SweepAudit(ctx, r.Audit)
	removed["audit lines"] = n
	return removed, err
}
