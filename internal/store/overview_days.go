package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

// What the pictures of the console are drawn from. Everything is counted beside the pages, for yesterday and today only, and
// kept for each day.

// FiguresByDay returns what was kept of figures over the last days, for the whole service or one part of it.
func (s Overview) FiguresByDay(ctx context.Context, part string, days int, names ...operator.Figure) (map[operator.Figure][]operator.DayCount, error) {
	list := make(map[operator.Figure][]operator.DayCount, len(names))
	for _, name := range names {
		counts, err := collectRows(ctx, s.readQuerier(), func(sc scanner) (operator.DayCount, error) {
			var day, n int64
			err := sc.Scan(&day, &n)
			return operator.DayCount{Day: fromMicros(day * dayMicros), Count: n}, err
		}, `SELECT day, n FROM tally WHERE name = $1 AND part = $2 AND day > $3 ORDER BY day`, string(name), part, operator.DayNumber(s.now())-int64(days))
		if err != nil {
			return nil, fmt.Errorf("read figures: %w", err)
		}
		list[name] = operator.FillLastDays(counts, s.now(), days)
	}
	return list, nil
}

// FiguresByPart returns what each part of the service has of a figure: of the last days, or as it stands now for 0 days.
func (s Overview) FiguresByPart(ctx context.Context, name operator.Figure, days int) (map[string]int64, error) {
	from, to := int64(0), int64(0)
	if days > 0 {
		to = operator.DayNumber(s.now())
		from = to - int64(days) + 1
	}
	type row struct {
		part string
		n    int64
	}
	rows, err := collectRows(ctx, s.readQuerier(), func(sc scanner) (row, error) {
		var r row
		return r, sc.Scan(&r.part, &r.n)
	}, `SELECT part, CAST(sum(n) AS BIGINT) FROM tally WHERE name = $1 AND part <> '' AND day >= $2 AND day <= $3 GROUP BY part ORDER BY part`,
		string(name), from, to)
	if err != nil {
		return nil, fmt.Errorf("read figures: %w", err)
	}
	parts := make(map[string]int64, len(rows))
	for _, r := range rows {
		parts[r.part] = r.n
	}
	return parts, nil
}

// countDetails counts what the pictures show of yesterday and today, what waits for each endpoint, and a sample of scores.
func (s Overview) countDetails(ctx context.Context) ([]figure, error) {
	var list []figure
	today := operator.DayNumber(s.now())
	for _, day := range []int64{today - 1, today} {
		for _, count := range []func(context.Context, int64, int64, int64) ([]figure, error){s.countFindings, s.countCases, s.countArrivals} {
			more, err := count(ctx, day, day*dayMicros-zoneMicros, (day+1)*dayMicros-zoneMicros)
			if err != nil {
				return nil, err
			}
			list = append(list, more...)
		}
	}
	backlogs, err := s.countBacklogs(ctx)
	if err != nil {
		return nil, err
	}
	scores, err := s.sampleScores(ctx)
	return append(append(list, backlogs...), scores...), err
}

// countFindings tells the findings of a day apart by severity and by what they expose, as the breaches stand now.
func (s Overview) countFindings(ctx context.Context, day, from, to int64) ([]figure, error) {
	counts := map[operator.Figure]int64{}
	for _, severity := range cyber.Severities() {
		counts[operator.FindingsOfSeverity(string(severity))] = 0
	}
	for _, class := range cyber.AllExposed() {
		counts[operator.FindingsOfClass(string(class))] = 0
	}
	type group struct {
		f cyber.Finding
		n int64
	}
	groups, err := collectRows(ctx, s.readQuerier(), func(sc scanner) (group, error) {
		var g group
		var classes sql.NullInt64
		var b breachRow
		if err := sc.Scan(append([]any{&g.n, &classes, &g.f.OwnSite}, b.scanTargets()...)...); err != nil {
			return g, err
		}
		breach, _ := s.openBreach(&b)
		g.f.Breach = breach.ForTrace(cyber.Trace{Told: classes.Valid, Classes: cyber.Classes(classes.Int64)})
		return g, nil
	}, `SELECT d.n, d.classes, d.own, `+breachColumns+` FROM (SELECT breach, classes, own_site OR watched_site AS own, count(*) AS n
			FROM finding WHERE found_at >= $1 AND found_at < $2 GROUP BY breach, classes, own_site OR watched_site) d
		JOIN breach b ON b.name = d.breach ORDER BY d.breach`, from, to)
	if err != nil {
		return nil, fmt.Errorf("count findings: %w", err)
	}
	for _, g := range groups {
		counts[operator.FindingsOfSeverity(string(cyber.SeverityOf(g.f)))] += g.n
		for _, class := range g.f.Breach.Exposes {
			counts[operator.FindingsOfClass(string(class))] += g.n
		}
	}
	var list []figure
	for name, n := range counts {
		list = append(list, figure{name: name, day: day, n: n})
	}
	return list, nil
}

// countCases returns how many cases were opened in a day, and how many resolved within their target and after it.
func (s Overview) countCases(ctx context.Context, day, from, to int64) ([]figure, error) {
	opened, inTime, late := figure{name: operator.CasesOpenedOfDay, day: day}, figure{name: operator.CasesInTimeOfDay, day: day}, figure{name: operator.CasesLateOfDay, day: day}
	q := s.readQuerier()
	err := q.QueryRowContext(ctx, `SELECT count(*) FROM support_case WHERE created_at >= $1 AND created_at < $2`, from, to).Scan(&opened.n)
	if err == nil {
		err = q.QueryRowContext(ctx, `SELECT count(*) FILTER (WHERE c.clock_used <= c.target), count(*) FILTER (WHERE c.clock_used > c.target) FROM case_move m
			JOIN support_case c ON c.partner_id = m.partner_id AND c.id = m.case_id
			WHERE m.to_status = $1 AND m.from_status <> $1 AND m.moved_at >= $2 AND m.moved_at < $3 AND c.target > 0`,
			string(cyber.CaseResolved), from, to).Scan(&inTime.n, &late.n)
	}
	if err != nil {
		return nil, classifyError(fmt.Errorf("count cases: %w", err))
	}
	each, err := s.figureByPartner(ctx, operator.CasesOpenedOfDay, day, `SELECT partner_id, count(*) FROM support_case WHERE created_at >= $1 AND created_at < $2
		GROUP BY partner_id ORDER BY partner_id`, from, to)
	return append(each, opened, inTime, late), err
}

// countArrivals returns what arrived at each endpoint in a day and how long it was on its way, and what was given up.
func (s Overview) countArrivals(ctx context.Context, day, from, to int64) ([]figure, error) {
	var list []figure
	for state, name := range map[string]operator.Figure{"delivered": operator.ArrivedOfDay, "failed": operator.GivenUpOfDay} {
		rows, err := collectRows(ctx, s.readQuerier(), func(sc scanner) ([]figure, error) {
			n, travel := figure{name: name, day: day}, figure{name: operator.TravelOfDay, day: day}
			err := sc.Scan(&n.part, &n.n, &travel.n)
			travel.part = n.part
			if name == operator.GivenUpOfDay {
				return []figure{n}, err
			}
			return []figure{n, travel}, err
		}, `SELECT endpoint_id, count(*), CAST(sum(finished_at - created_at) AS BIGINT) FROM delivery
			WHERE state = $1 AND finished_at > 0 AND finished_at >= $2 AND finished_at < $3 GROUP BY endpoint_id ORDER BY endpoint_id`, state, from, to)
		if err != nil {
			return nil, fmt.Errorf("count arrivals: %w", err)
		}
		for _, r := range rows {
			list = append(list, r...)
		}
	}
	return list, nil
}

// countBacklogs returns what waits for each endpoint.
func (s Overview) countBacklogs(ctx context.Context) ([]figure, error) {
	list, err := collectRows(ctx, s.readQuerier(), func(sc scanner) (figure, error) {
		f := figure{name: operator.Backlog}
		return f, sc.Scan(&f.part, &f.n)
	}, `SELECT endpoint_id, count(*) FROM delivery WHERE state = 'pending' GROUP BY endpoint_id ORDER BY endpoint_id`)
	return list, wrapError("count backlogs", err)
}

// scoreSample is how many people's scores are looked at; scores are sealed, so that all of them cannot be counted in passing.
const scoreSample = 1000

// sampleScores returns how scores are spread. People are in the order of a keyed index, which has nothing to do with
// their score, so the first ones of each partner are as good a sample as any.
func (s Overview) sampleScores(ctx context.Context) ([]figure, error) {
	partners, err := s.partnersArea().ListPartners(ctx)
	if err != nil || len(partners) == 0 {
		return nil, err
	}
	var bands [operator.ScoreBands]int64
	for _, p := range partners {
		if p.Mode == partner.Sandbox {
			continue
		}
		advice := Advice(s)
		days, err := collectRows(ctx, s.readQuerier(), advice.scanScoreDay(p.ID), `SELECT `+scoreColumns+` FROM score_day d JOIN (SELECT user_index, max(day) AS day
				FROM score_day WHERE partner_id = $1 GROUP BY user_index ORDER BY user_index LIMIT $2) n ON n.user_index = d.user_index AND n.day = d.day
			WHERE d.partner_id = $1 ORDER BY d.user_index`, partnerNumber(p.ID), max(1, scoreSample/len(partners)))
		if err != nil {
			return nil, fmt.Errorf("sample scores: %w", err)
		}
		for _, d := range days {
			bands[min(max(d.Breach, 0)*operator.ScoreBands/1001, operator.ScoreBands-1)]++
		}
	}
	list := make([]figure, len(bands))
	for i, n := range bands {
		list[i] = figure{name: operator.ScoreBandFigure(i), n: n}
	}
	return list, nil
}
