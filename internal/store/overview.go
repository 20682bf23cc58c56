package store

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/subscription"
)

// A name of the table tally that is no figure: when the counts were made, in microseconds.
const tallyCountedAt = "mark.counted_at"

// tallyEvents marks up to which seq the events of a partner are counted.
const tallyEvents = "mark.events"

// eventsAtOnce bounds the events counted in one transaction, so that others can write meanwhile.
const eventsAtOnce = 2000

// Days of figures begin at midnight in Brasília, whose offset does not change over the year.
const (
	dayMicros  = int64(24 * time.Hour / time.Microsecond)
	zoneMicros = int64(operator.Brasilia / time.Microsecond)
)

// dayOfMicros is partner.DayNumber of a stored time.
func dayOfMicros(at int64) int64 { return (at + zoneMicros) / dayMicros }

// LastFigures returns the counts that CountFigures made last.
func (s Overview) LastFigures(ctx context.Context) (operator.Figures, error) {
	kept, err := collectPairs[operator.Figure, int64](
		ctx,
		s.readQuerier(),
		`SELECT name, n FROM tally WHERE part = '' AND day = 0`,
	)
	f := operator.Figures{At: fromMicros(kept[tallyCountedAt]), Now: kept}
	maps.DeleteFunc(f.Now, func(name operator.Figure, _ int64) bool { return strings.HasPrefix(string(name), "mark.") })
	return f, err
}

// figure is a count on its way into the table; day 0 is as it stands now, and no part is the whole service.
type figure struct {
	name operator.Figure
	day  int64
	n    int64
	part string
}

// CountFigures counts everything anew that can be read off an index, and goes on counting events from where it stopped.
// Many processes may call it: counts younger than fresh are left alone.
func (s Overview) CountFigures(ctx context.Context, fresh time.Duration) error {
	f, err := s.LastFigures(ctx)
	if err != nil || s.now().Sub(f.At) < fresh {
		return err
	}
	c := counting{s: s, ctx: ctx}
	c.countStanding()
	c.countEndpoints()
	c.sampleScores()
	today := partner.DayNumber(s.now())
	for c.day = today - 1; c.day <= today; c.day++ { // days before that do not change any more
		from, to := c.day*dayMicros-zoneMicros, (c.day+1)*dayMicros-zoneMicros
		c.countDay(from, to)
		c.countCases(from, to)
		c.countArrivals(from, to)
	}
	if c.err != nil {
		return c.err
	}
	partners, err := Partners(s).ListPartners(ctx)
	if err != nil {
		return err
	}
	for _, p := range partners {
		for more := true; more; {
			if more, err = s.countEvents(ctx, p.ID); err != nil {
				return err
			}
		}
	}
	if err := s.countSubscriptions(ctx); err != nil {
		return err
	}
	gone, err := s.endpointsAtRest(ctx, c.list)
	if err != nil {
		return err
	}
	return s.keepFigures(ctx, append(append(c.list, gone...), figure{name: tallyCountedAt, n: toMicros(s.now())}))
}

// keepFigures writes counts, a few at a time: partners and endpoints have their own. When they were made comes last.
func (s Overview) keepFigures(ctx context.Context, figures []figure) error {
	_, err := runInParts(ctx, s.core, figures, sweepBatch, func(tx *sqldb.Tx, part []figure) error {
		if err := lockFigures(ctx, tx); err != nil {
			return err
		}
		tallies := make([]sqldb.Statement, len(part))
		for i, f := range part {
			tallies[i] = setDayTally(f.name, f.part, f.day, f.n)
		}
		return tx.RunStatements(ctx, tallies)
	})
	return err
}

// endpointsAtRest returns zeros for endpoints of which the last count had something that waited or arrived, and this
// one has nothing.
func (s Overview) endpointsAtRest(ctx context.Context, figures []figure) ([]figure, error) {
	counted := map[figure]bool{}
	for _, f := range figures {
		counted[figure{name: f.name, part: f.part, day: f.day}] = true
	}
	before, err := collectRows(
		ctx,
		s.readQuerier(),
		func(sc scanner, f *figure) error { return sc.Scan(&f.name, &f.part, &f.day) },
		`SELECT name, part, day FROM tally WHERE name IN ($1, $2) AND n <> 0`,
		operator.Backlog,
		operator.Arrived,
	)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(before, func(f figure) bool { return counted[f] }), nil
}

// lockFigures lets one process count at a time: two that write the same rows in another order would wait for each
// other.
func lockFigures(ctx context.Context, tx *sqldb.Tx) error {
	return execStatement(ctx, tx, `UPDATE counter SET value = value + 1 WHERE name = 'figures'`)
}

func setDayTally(name operator.Figure, part string, day, n int64) sqldb.Statement {
	return sqldb.NewStatement(`INSERT INTO tally (name, part, day, n) VALUES ($1, $2, $3, $4)
		ON CONFLICT (name, part, day) DO UPDATE SET n = $4`,
		name,
		part,
		day,
		n,
	)
}

func addDayTally(name operator.Figure, part string, day, n int64) sqldb.Statement {
	return sqldb.NewStatement(`INSERT INTO tally (name, part, day, n) VALUES ($1, $2, $3, $4)
		ON CONFLICT (name, part, day) DO UPDATE SET n = tally.n + $4`,
		name,
		part,
		day,
		n,
	)
}

// counting gathers figures of a day, of now for day 0. After an error it counts nothing more.
type counting struct {
	s    Overview
	ctx  context.Context //nolint:containedctx // lives for one count
	day  int64
	list []figure
	err  error
}

// countTotals adds figures from one row, a column for each.
func (c *counting) countTotals(names []operator.Figure, query string, args ...any) {
	if c.err != nil {
		return
	}
	counts, dest := make([]figure, len(names)), make([]any, len(names))
	for i, name := range names {
		counts[i], dest[i] = figure{name: name, day: c.day}, &counts[i].n
	}
	c.err = readColumns(c.ctx, c.s.readQuerier(), dest, query, args...)
	c.list = append(c.list, counts...)
}

// addRows adds what read makes of each row.
func (c *counting) addRows(read func(scanner) error, query string, args ...any) {
	if c.err == nil {
		c.err = eachRow(c.ctx, c.s.readQuerier(), read, query, args...)
	}
}

func (c *counting) countByPartner(name operator.Figure, query string, args ...any) {
	c.addRows(func(row scanner) error {
		var id partner.ID
		f := figure{name: name, day: c.day}
		err := row.Scan(&id, &f.n)
		f.part = string(id)
		c.list = append(c.list, f)
		return err
	}, query, args...)
}

// countStanding counts what there is now, each count from an index alone.
func (c *counting) countStanding() {
	today := subscription.DayInBrazil(c.s.now())
	c.countTotals(
		[]operator.Figure{
			operator.AssetsMonitored, operator.AssetsUnlooked, operator.AssetsAlert, operator.AssetsCompromised,
		},
		`SELECT n.monitored - u.waiting - u.due, u.waiting + u.due, n.alert, n.compromised FROM (
			SELECT count(*) FILTER (WHERE status = 'monitorado') AS monitored,
				count(*) FILTER (WHERE status = 'alerta') AS alert,
				count(*) FILTER (WHERE status = 'comprometido') AS compromised
			FROM asset WHERE `+livePartner(`partner_id`)+`) n
		CROSS JOIN (SELECT
			(SELECT count(*) FROM asset WHERE look = 2 AND `+livePartner(`partner_id`)+`) AS waiting,
			(SELECT count(*) FROM asset WHERE look = 1 AND status = 'monitorado'
				AND `+livePartner(`partner_id`)+`) AS due) u`,
	)
	c.countTotals([]operator.Figure{operator.FindingsOpen, operator.FindingsResolved},
		`SELECT count(*) FILTER (WHERE true`+findingsInState(cyber.FindingOpen)+`),
		count(*) FILTER (WHERE true`+findingsInState(cyber.FindingResolved)+`) FROM finding f
		WHERE `+livePartner(`f.partner_id`),
	)
	c.countTotals(
		[]operator.Figure{operator.SubscriptionsActive, operator.SubscriptionsEnded},
		`SELECT CAST(coalesce(sum(active - past), 0) AS BIGINT), CAST(coalesce(sum(last - active + past),
		0) AS BIGINT) FROM (
			SELECT partner_id, active, last, 0 AS past FROM subscription_counter
			UNION ALL SELECT partner_id, 0, 0, active FROM subscription_expiry WHERE expiry_day < $1) n
			WHERE `+livePartner(`n.partner_id`),
		today,
	)
	c.countTotals(
		[]operator.Figure{operator.SubscriptionsSuspended},
		`SELECT count(*) FROM subscription WHERE ended_at = 0 AND suspended_at > 0 AND `+lastDay+` >= $1
			AND `+livePartner(`partner_id`),
		today,
	)
	c.countTotals(
		[]operator.Figure{operator.DeliveriesPending},
		`SELECT count(*) FROM delivery WHERE state = 'pending' AND `+livePartner(`partner_id`),
	)
	c.countTotals(
		[]operator.Figure{operator.DeliveriesFailed},
		`SELECT count(*) FROM delivery WHERE state = 'failed' AND finished_at > 0 AND `+livePartner(`partner_id`),
	)
	c.countTotals(
		[]operator.Figure{operator.DevicesProtected},
		`SELECT count(*) FROM epp_key WHERE ended_at = 0 AND activated_at > 0 AND valid_until > $1
		AND `+livePartner(`partner_id`),
		c.s.now(),
	)
	c.countTotals(
		[]operator.Figure{operator.CasesOpen},
		`SELECT count(*) FROM support_case WHERE status IN (`+openStatuses+`) AND `+livePartner(`partner_id`),
	)
	// What is listed a partner at a time is counted so too: the parts are the rows, and add up to the number.
	c.countByPartner(operator.SubscriptionsActive, `SELECT partner_id, CAST(sum(active - past) AS BIGINT) FROM (
		SELECT partner_id, active, 0 AS past FROM subscription_counter
		UNION ALL SELECT partner_id, 0, active FROM subscription_expiry WHERE expiry_day < $1) n GROUP BY partner_id
		ORDER BY partner_id`,
		today,
	)
	c.countByPartner(
		operator.DevicesProtected,
		`SELECT partner_id, count(*) FROM epp_key WHERE ended_at = 0 AND activated_at > 0 AND valid_until > $1
		GROUP BY partner_id ORDER BY partner_id`,
		c.s.now(),
	)
	c.countByPartner(
		operator.FindingsOpen,
		`SELECT partner_id, count(*) FILTER (WHERE resolution = '') FROM finding GROUP BY partner_id
		ORDER BY partner_id`,
	)
}

// countDay counts what happened in a day.
func (c *counting) countDay(from, to int64) {
	c.countTotals(
		[]operator.Figure{operator.FindingsOfDay},
		`SELECT count(*) FROM finding WHERE found_at >= $1 AND found_at < $2`,
		from,
		to,
	)
	c.countTotals(
		[]operator.Figure{operator.DeliveriesOfDay},
		`SELECT count(*) FROM delivery WHERE state = 'delivered' AND finished_at > 0
		AND finished_at >= $1 AND finished_at < $2`,
		from,
		to,
	)
	c.countByPartner(
		operator.FindingsOfDay,
		`SELECT partner_id, count(*) FROM finding WHERE found_at >= $1 AND found_at < $2
		GROUP BY partner_id ORDER BY partner_id`,
		from,
		to,
	)
}

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
		list := []sqldb.Statement{setDayTally(tallyEvents, string(id), 0, to)}
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
		var list []sqldb.Statement
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

// What the pictures of the console are drawn from. Everything is counted beside the pages, for yesterday and today
// only, and kept for each day.

// FiguresByDay returns what was kept of figures over the last days, for the whole service or one part of it.
func (s Overview) FiguresByDay(
	ctx context.Context,
	part string,
	days int,
	names ...operator.Figure,
) (map[operator.Figure][]operator.DayCount, error) {
	list := make(map[operator.Figure][]operator.DayCount, len(names))
	for _, name := range names {
		counts, err := collectRows(
			ctx,
			s.readQuerier(),
			func(row scanner, d *operator.DayCount) error { return row.Scan(&d.Day, &d.Count) },
			`SELECT day * $4, n FROM tally WHERE name = $1 AND part = $2 AND day > $3 ORDER BY day`,
			name,
			part,
			partner.DayNumber(s.now())-int64(days),
			dayMicros,
		)
		if err != nil {
			return nil, err
		}
		list[name] = operator.FillLastDays(counts, s.now(), days)
	}
	return list, nil
}

// FiguresByPart returns what each part of the service has of a figure: of the last days, or as it stands now for 0
// days.
func (s Overview) FiguresByPart(ctx context.Context, name operator.Figure, days int) (map[string]int64, error) {
	from, to := int64(0), int64(0)
	if days > 0 {
		to = partner.DayNumber(s.now())
		from = to - int64(days) + 1
	}
	return collectPairs[string, int64](ctx, s.readQuerier(), `SELECT part, CAST(sum(n) AS BIGINT) FROM tally
		WHERE name = $1 AND part <> '' AND day >= $2 AND day <= $3 GROUP BY part`,
		name,
		from,
		to,
	)
}

// countCases counts how many cases were opened in a day, and how many resolved within their target and after it.
func (c *counting) countCases(from, to int64) {
	c.countTotals(
		[]operator.Figure{operator.CasesOpenedOfDay},
		`SELECT count(*) FROM support_case WHERE created_at >= $1 AND created_at < $2`,
		from,
		to,
	)
	c.countTotals(
		[]operator.Figure{operator.CasesInTimeOfDay, operator.CasesLateOfDay},
		`SELECT count(*) FILTER (WHERE c.clock_used <= c.target),
			count(*) FILTER (WHERE c.clock_used > c.target) FROM case_move m
			JOIN support_case c ON c.partner_id = m.partner_id AND c.id = m.case_id
		WHERE m.to_status = $1 AND m.from_status <> $1 AND m.moved_at >= $2 AND m.moved_at < $3 AND c.target > 0`,
		cyber.CaseResolved,
		from,
		to,
	)
	c.countByPartner(
		operator.CasesOpenedOfDay,
		`SELECT partner_id, count(*) FROM support_case WHERE created_at >= $1 AND created_at < $2
		GROUP BY partner_id ORDER BY partner_id`,
		from,
		to,
	)
}

// countArrivals counts what arrived at each endpoint in a day and how long it was on its way, and what was given up.
func (c *counting) countArrivals(from, to int64) {
	figures := map[string]operator.Figure{"delivered": operator.ArrivedOfDay, "failed": operator.GivenUpOfDay}
	for state, name := range figures {
		c.addRows(func(row scanner) error {
			n, travel := figure{name: name, day: c.day}, figure{name: operator.TravelOfDay, day: c.day}
			err := row.Scan(&n.part, &n.n, &travel.n)
			travel.part = n.part
			if c.list = append(c.list, n); name == operator.ArrivedOfDay {
				c.list = append(c.list, travel)
			}
			return err
		}, `SELECT endpoint_id, count(*), CAST(sum(finished_at - created_at) AS BIGINT) FROM delivery
			WHERE state = $1 AND finished_at > 0 AND finished_at >= $2 AND finished_at < $3 GROUP BY endpoint_id
			ORDER BY endpoint_id`,
			state,
			from,
			to,
		)
	}
}

// countEndpoints counts what waits for each endpoint, and what arrived there in the last 24 hours.
func (c *counting) countEndpoints() {
	c.addRows(func(row scanner) error {
		var f figure
		err := row.Scan(&f.name, &f.part, &f.n)
		c.list = append(c.list, f)
		return err
	}, `SELECT '`+string(operator.Backlog)+`', endpoint_id, count(*) FROM delivery WHERE state = 'pending'
		GROUP BY endpoint_id
		UNION ALL SELECT '`+string(operator.Arrived)+`', endpoint_id, count(*) FROM delivery
		WHERE state = 'delivered' AND finished_at > 0 AND finished_at >= $1 GROUP BY endpoint_id`,
		toMicros(c.s.now())-dayMicros,
	)
}

// scoreSample is how many people's scores are looked at; scores are sealed, so that all of them cannot be counted in
// passing.
const scoreSample = 1000

// sampleScores counts how scores are spread. People are in the order of a keyed index, which has nothing to do with
// their score, so the first ones of each partner are as good a sample as any.
func (c *counting) sampleScores() {
	partners, err := Partners(c.s).ListPartners(c.ctx)
	c.err = cmp.Or(c.err, err)
	var bands [operator.ScoreBands]int64
	for _, p := range partners {
		if p.Mode == partner.Sandbox {
			continue
		}
		scan := Advice(c.s).scanScoreDay(p.ID)
		c.addRows(func(row scanner) error {
			var d cyber.ScoreDay
			err := scan(row, &d)
			bands[min(max(d.Breach, 0)*operator.ScoreBands/1001, operator.ScoreBands-1)]++
			return err
		}, `SELECT `+scoreColumns+` FROM score_day d JOIN (SELECT user_index, max(day) AS day
				FROM score_day WHERE partner_id = $1 GROUP BY user_index
				ORDER BY user_index LIMIT $2) n ON n.user_index = d.user_index AND n.day = d.day
			WHERE d.partner_id = $1 ORDER BY d.user_index`,
			p.ID,
			max(1, scoreSample/len(partners)),
		)
	}
	for i, n := range bands {
		if len(partners) > 0 {
			c.list = append(c.list, figure{name: operator.ScoreBandFigure(i), n: n})
		}
	}
}
