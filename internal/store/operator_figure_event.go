package store

import (
	"context"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// tallyEvents marks up to which seq the events of a partner are counted.
const tallyEvents = "mark.events"

// eventsAtOnce bounds the events counted in one transaction, so that others can write meanwhile.
const eventsAtOnce = 2000

// countEvents adds the events of a partner that came since the last count; seq has no gaps and grows in commit order,
// so none is missed or counted twice. It tells whether there may be more.
func (s Overview) countEvents(ctx context.Context, id partner.ID) (more bool, err error) {
	type count struct {
		day, n int64
		kind   string
	}
	err = s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		if err := lockFigures(ctx, tx); err != nil {
			return err
		}
		var from, last int64
		err := readColumns(
			ctx,
			tx,
			[]any{&from, &last},
			`SELECT coalesce((SELECT n FROM tally WHERE name = $2 AND part = $3 AND day = 0), 0),
			coalesce((SELECT last FROM event_counter WHERE partner_id = $1), 0)`,
			id,
			tallyEvents,
			string(id),
		)
		if err != nil {
			return err
		}
		to := min(last, from+eventsAtOnce)
		if more = to < last; to == from {
			return nil
		}
		counts, err := collectRows(
			ctx,
			tx,
			func(sc scanner, c *count) error { return sc.Scan(&c.day, &c.kind, &c.n) },
			`SELECT (created_at + $5) / $4, type, count(*) FROM event WHERE partner_id = $1 AND seq > $2 AND seq <= $3
			GROUP BY 1, 2 ORDER BY 1, 2`,
			id,
			from,
			to,
			dayMicros,
			zoneMicros,
		)
		if err != nil {
			return err
		}
		list := sqldb.Statements{setDayTally(tallyEvents, string(id), 0, to)}
		for _, c := range counts {
			list = append(list, addDayTally(operator.EventsOfDay, "", c.day, c.n))
			if c.kind == string(alert.LeakDetected) {
				list = append(
					list,
					addDayTally(operator.AlertsOfDay, "", c.day, c.n),
					addDayTally(operator.AlertsOfDay, string(id), c.day, c.n),
				)
			}
		}
		return tx.RunStatements(ctx, list)
	})
	return more, err
}

// countSubscriptions adds what the partners' counters have moved since the last count to today, some partners at a
// time.
func (s Overview) countSubscriptions(ctx context.Context) error {
	// The counter of a partner never falls, so what it grew by is what was enrolled.
	grown, err := collectRows(ctx, s.readQuerier(), func(sc scanner, f *figure) (err error) {
		var id partner.ID
		err = sc.Scan(&id, &f.n)
		f.part = string(id)
		return err
	}, `SELECT partner_id, last FROM subscription_counter ORDER BY partner_id`)
	if err != nil {
		return err
	}
	today := partner.DayNumber(s.now())
	_, err = runInParts(ctx, s.core, grown, sweepBatch/3, func(tx *sqldb.Tx, part []figure) error {
		if err := lockFigures(ctx, tx); err != nil {
			return err
		}
		const mark = "mark.subscriptions"
		var list sqldb.Statements
		all := int64(0)
		for _, g := range part {
			before, err := readValue[int64](
				ctx,
				tx,
				`SELECT coalesce((SELECT n FROM tally WHERE name = $1 AND part = $2 AND day = 0), 0)`,
				mark,
				g.part,
			)
			if err != nil {
				return err
			}
			if more := g.n - before; more > 0 { // another process may have counted since
				all += more
				list = append(
					list,
					addDayTally(operator.SubscriptionsOfDay, g.part, today, more),
					setDayTally(mark, g.part, 0, g.n),
				)
			}
		}
		return tx.RunStatements(ctx, append(list, addDayTally(operator.SubscriptionsOfDay, "", today, all)))
	})
	return err
}
