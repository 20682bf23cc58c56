package store

import (
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
)

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
