package store

import (
	"context"
	"fmt"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/partner"
)

// Health tells how an endpoint fares by its newest deliveries, all of which its own index names: see alert.HistoryStore.
func (s Alerts) Health(ctx context.Context, id partner.ID, endpoint alert.EndpointID) (alert.Health, error) {
	var h alert.Health
	err := s.reader().QueryRowContext(ctx, `SELECT count(*) FILTER (WHERE state = 'delivered'), count(*) FILTER (WHERE state = 'failed')
		FROM (SELECT state FROM delivery WHERE partner_id = $1 AND endpoint_id = $2 ORDER BY seq DESC LIMIT $3) AS newest`,
		number(id), string(endpoint), int64(alert.HealthOver)).Scan(&h.Delivered, &h.Failed)
	if err == nil {
		err = s.reader().QueryRowContext(ctx, `SELECT count(*) FROM (SELECT 1 AS one FROM delivery
			WHERE partner_id = $1 AND endpoint_id = $2 AND state = 'pending' LIMIT $3) AS waiting`,
			number(id), string(endpoint), int64(alert.MaxBacklog)).Scan(&h.Backlog)
	}
	if err != nil {
		return h, classify(fmt.Errorf("read health of endpoint: %w", err))
	}
	events, err := collect(ctx, s.reader(), func(row scanner) (event alert.EventID, err error) { return event, row.Scan(&event) },
		`SELECT event_id FROM delivery WHERE partner_id = $1 AND endpoint_id = $2 AND (attempts > 0 OR state = 'delivered')
		ORDER BY seq DESC LIMIT 1`, number(id), string(endpoint))
	if err != nil || len(events) == 0 {
		return h, err
	}
	tries, err := s.Attempts(ctx, id, events[0])
	for _, t := range tries {
		if t.Endpoint == endpoint && !t.At.Before(h.Last.At) {
			h.Last = t
		}
	}
	return h, err
}
