package store

import (
	"context"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subscription"
)

// lastDay is the last day on which a subscription is active, in the words of the index subscription_active; a day that
// no date reaches stands for no end.
const lastDay = `(CASE WHEN expiry_day = 0 THEN 4000000 ELSE expiry_day END)`

// pageQuery is one statement, so that totals and rows are of one moment. past is what the sweep has not ended yet,
// first the block that holds the offset-th row, before how many come earlier than it, and found the page's numbers,
// which an index alone finds. SQLite has to be told to compute past and first once. The statement is kept prepared, as
// reading the text costs SQLite six times as much as running it; LIMIT has a CAST because SQLite reads a text again
// whenever the number of a bare one is bound.
const pageQuery = `
WITH past AS MATERIALIZED (
	SELECT block, sum(active) AS active FROM subscription_expiry
	WHERE partner_id = $1 AND expiry_day < $2 GROUP BY block),
first AS MATERIALIZED (
	SELECT block, before FROM (
		SELECT block, active, sum(active) OVER (ORDER BY block ROWS UNBOUNDED PRECEDING) - active AS before FROM (
			SELECT b.block, b.active - coalesce(p.active, 0) AS active
			FROM subscription_block b LEFT JOIN past p ON p.block = b.block WHERE b.partner_id = $1) counted) summed
	WHERE before + active > $3 ORDER BY block LIMIT 1),
found AS (
	SELECT seq FROM subscription
	WHERE partner_id = $1 AND ended_at = 0 AND ` + lastDay + ` >= $2 AND seq >= (SELECT block FROM first) * 4096
	ORDER BY seq LIMIT CAST($4 AS BIGINT) OFFSET coalesce($3 - (SELECT before FROM first), 0)),
total AS (
	SELECT CAST(coalesce((SELECT active FROM subscription_counter WHERE partner_id = $1), 0)
		- coalesce((SELECT sum(active) FROM past), 0) AS BIGINT) AS active)
SELECT t.active, coalesce(s.seq, 0), s.cpf, coalesce(s.plan_id, ''), coalesce(s.start_day, 0),
	coalesce(s.expiry_day, 0), s.body, s.created_at, s.suspended_at
FROM total t LEFT JOIN found f ON 1 = 1 LEFT JOIN subscription s ON s.partner_id = $1 AND s.seq = f.seq
ORDER BY s.seq`

// ActivePage returns part of a partner's subscriptions that have not ended and are not past their expiry date, and how
// many there are.
func (s Subscriptions) ActivePage(
	ctx context.Context, id partner.ID, offset int64, limit int,
) (subscription.Page, error) {
	page := subscription.Page{Items: []subscription.Subscription{}}
	err := eachRow(ctx, s.listQuerier(), func(row scanner) error {
		var sub subscription.Subscription
		var cpf, sealed []byte
		err := row.Scan(
			&page.Total,
			&sub.Seq,
			&cpf,
			&sub.Plan,
			&sub.Start,
			&sub.Expiry,
			&sealed,
			&sub.CreatedAt,
			&sub.SuspendedAt,
		)
		if err != nil || sub.Seq == 0 { // past the end
			return err
		}
		err = s.unsealBody(id, cpf, sealed, &sub)
		page.Items = append(page.Items, sub)
		return err
	},
		pageQuery,
		id,
		subscription.DayInBrazil(s.now()),
		offset,
		limit,
	)
	return page, err
}
