package store

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/partner"
)

// EndpointHealth returns how an endpoint fares by its newest deliveries, all of which its own index names: see
// alert.HistoryStore.
func (s Alerts) EndpointHealth(ctx context.Context, id partner.ID, endpoint alert.EndpointID) (alert.Health, error) {
	var h alert.Health
	var travel int64
	err := s.readQuerier().QueryRowContext(ctx, `SELECT count(*) FILTER (WHERE state = 'delivered'), count(*) FILTER (WHERE state = 'failed'),
			CAST(coalesce(sum(finished_at - created_at) FILTER (WHERE state = 'delivered'), 0) AS BIGINT)
		FROM (SELECT state, created_at, finished_at FROM delivery WHERE partner_id = $1 AND endpoint_id = $2 ORDER BY seq DESC LIMIT $3) AS newest`,
		partnerNumber(id), string(endpoint), int64(alert.HealthOver)).Scan(&h.Delivered, &h.Failed, &travel)
	h.Travel = time.Duration(travel) * time.Microsecond
	if err == nil {
		err = s.readQuerier().QueryRowContext(ctx, `SELECT count(*) FROM (SELECT 1 AS one FROM delivery
			WHERE partner_id = $1 AND endpoint_id = $2 AND state = 'pending' LIMIT $3) AS waiting`,
			partnerNumber(id), string(endpoint), int64(alert.MaxBacklog)).Scan(&h.Backlog)
	}
	if err != nil {
		return h, classifyError(fmt.Errorf("read health of endpoint: %w", err))
	}
	event, err := s.lastTriedEvent(ctx, id, endpoint)
	if err != nil || event == "" {
		return h, err
	}
	tries, err := s.ListAttempts(ctx, id, event)
	for _, t := range tries {
		if t.Endpoint == endpoint && !t.At.Before(h.Last.At) {
			h.Last = t
		}
	}
	return h, err
}

// lastTriedEvent returns the event of the newest delivery that was tried; empty when none was. What waits is tried from
// the oldest on, so behind the newest deliveries it looks where that begins.
func (s Alerts) lastTriedEvent(ctx context.Context, id partner.ID, endpoint alert.EndpointID) (alert.EventID, error) {
	const of = `partner_id = $1 AND endpoint_id = $2`
	const begin = `coalesce((SELECT min(o.seq) FROM delivery o WHERE o.partner_id = $1 AND o.endpoint_id = $2 AND o.state = 'pending'),
		(SELECT min(o.seq) FROM delivery o WHERE o.partner_id = $1 AND o.endpoint_id = $2 AND o.state = 'held'), 0)`
	for _, stretch := range []string{
		`SELECT event_id, seq, attempts, state FROM delivery WHERE ` + of + ` ORDER BY seq DESC LIMIT $3`,
		`SELECT event_id, seq, attempts, state FROM delivery WHERE ` + of + ` AND seq >= ` + begin + ` ORDER BY seq LIMIT $3`,
		`SELECT event_id, seq, attempts, state FROM delivery WHERE ` + of + ` AND seq < ` + begin + ` ORDER BY seq DESC LIMIT $3`,
	} {
		events, err := collectRows(ctx, s.readQuerier(), func(row scanner) (event alert.EventID, err error) { return event, row.Scan(&event) },
			`SELECT event_id FROM (`+stretch+`) AS near WHERE attempts > 0 OR state = 'delivered' ORDER BY seq DESC LIMIT 1`,
			partnerNumber(id), string(endpoint), int64(alert.HealthOver))
		if err != nil || len(events) > 0 {
			return cmp.Or(append(events, "")...), err
		}
	}
	return "", nil
}
