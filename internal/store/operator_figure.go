package store

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// A name of the table tally that is no figure: when the counts were made, in microseconds.
const tallyCountedAt = "mark.counted_at"

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
		tallies := make(sqldb.Statements, len(part))
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

// What the pictures of the console are drawn from. Everything is counted beside the pages, for yesterday and today
// only, and kept for each day.

// FiguresByDay returns what was kept of figures over the last days, for the whole service or one part of it.
func (s Overview) FiguresByDay(
	ctx context.Context, part string, days int, names ...operator.Figure,
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
