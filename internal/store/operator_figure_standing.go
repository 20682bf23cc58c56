package store

import (
	"cmp"
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subscription"
)

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
