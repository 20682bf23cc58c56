package store

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/seal"
)

var (
	_ alert.FeedStore    = Alerts{}
	_ alert.HistoryStore = Alerts{}
)

// Deliveries returns where an event has gone.
func (s Alerts) Deliveries(ctx context.Context, id partner.ID, event alert.EventID) ([]alert.DeliveryStatus, error) {
	seq, err := s.eventSeq(ctx, s.readQuerier(), id, event)
	if err != nil {
		return nil, err
	}
	return collectRows(ctx, s.readQuerier(), func(row scanner, d *alert.DeliveryStatus) error {
		*d = alert.DeliveryStatus{Event: event, Seq: seq}
		err := row.Scan(&d.Endpoint, &d.State, &d.Attempts, &d.NextAt, &d.FinishedAt)
		if d.State != alert.Pending {
			d.NextAt = time.Time{}
		}
		return err
	}, `SELECT d.endpoint_id, d.state, d.attempts, d.next_at, d.finished_at FROM delivery d
		WHERE d.partner_id = $1 AND d.seq = $2 AND `+atEndpoints+` ORDER BY d.endpoint_id`,
		id,
		seq,
	)
}

// atEndpoints are the deliveries of partner $1 whose endpoint there still is. Named one by one, they are looked up by
// their key; joined to the endpoints, SQLite reads all deliveries of the partner for those of one event.
const atEndpoints = `d.endpoint_id IN (SELECT id FROM endpoint WHERE partner_id = $1)`

// ListAttempts returns every logged try of an event, in order.
func (s Alerts) ListAttempts(ctx context.Context, id partner.ID, event alert.EventID) ([]alert.AttemptLog, error) {
	seq, err := s.eventSeq(ctx, s.readQuerier(), id, event)
	if err != nil {
		return nil, err
	}
	list, err := collectRows(ctx, s.readQuerier(), func(row scanner, a *alert.AttemptLog) error {
		var worker string
		return row.Scan(
			&a.Endpoint,
			&a.At,
			&worker,
			&a.Status,
			&a.Failure,
			&a.Duration,
			s.unseals(&a.Answer, func() seal.Place {
				return attemptPlace(
					string(id),
					string(a.Endpoint),
					strconv.FormatInt(seq, 10),
					strconv.FormatInt(toMicros(a.At), 10),
					worker,
				)
			}),
		)
	}, `SELECT a.endpoint_id, a.at, a.worker, a.status, a.failure, a.duration, a.answer FROM attempt a
		WHERE a.partner_id = $1 AND a.seq = $2 AND a.endpoint_id IN (SELECT id FROM endpoint WHERE partner_id = $1)`,
		id,
		seq,
	)
	if err != nil {
		return nil, err
	}
	folded, err := collectRows(ctx, s.readQuerier(), func(row scanner, a *alert.AttemptLog) error {
		return row.Scan(&a.Endpoint, scanFunc(func(tried []byte) error { return decodeAttempt(tried, a) }))
	}, `SELECT d.endpoint_id, d.tried FROM delivery d WHERE d.partner_id = $1 AND d.seq = $2
		AND `+atEndpoints+` AND d.tried IS NOT NULL`,
		id,
		seq,
	)
	list = append(list, folded...)
	slices.SortStableFunc(list, func(a, b alert.AttemptLog) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Endpoint, b.Endpoint))
	})
	return list, err
}

// EndpointHealth returns how an endpoint fares by its newest deliveries, all of which its own index names: see
// alert.HistoryStore.
func (s Alerts) EndpointHealth(ctx context.Context, id partner.ID, endpoint alert.EndpointID) (alert.Health, error) {
	var h alert.Health
	q := s.readQuerier()
	err := readColumns(
		ctx,
		q,
		[]any{&h.Delivered, &h.Failed, &h.Travel},
		`SELECT count(*) FILTER (WHERE state = 'delivered'), count(*) FILTER (WHERE state = 'failed'),
			CAST(coalesce(sum(finished_at - created_at) FILTER (WHERE state = 'delivered'), 0) AS BIGINT)
		FROM (SELECT state, created_at, finished_at FROM delivery WHERE partner_id = $1 AND endpoint_id = $2
		ORDER BY seq DESC LIMIT $3) AS newest`,
		id,
		endpoint,
		alert.HealthOver,
	)
	if err != nil {
		return h, err
	}
	err = readColumns(
		ctx,
		q,
		[]any{&h.Backlog, &h.Held},
		`SELECT (SELECT count(*) FROM (SELECT 1 AS one FROM delivery
			WHERE partner_id = $1 AND endpoint_id = $2 AND state = 'pending' LIMIT $3) AS waiting),
			(SELECT count(*) FROM (SELECT 1 AS one FROM delivery
			WHERE partner_id = $1 AND endpoint_id = $2 AND state = 'held' LIMIT $3) AS held)`,
		id,
		endpoint,
		alert.MaxBacklog,
	)
	if err != nil {
		return h, err
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

// lastTriedEvent returns the event of the newest delivery that was tried; empty when none was. A delivery that met a
// 410, or is sent again, has tries although none counts. What waits is tried from the oldest on, so behind the newest
// deliveries it looks where that begins.
func (s Alerts) lastTriedEvent(ctx context.Context, id partner.ID, endpoint alert.EndpointID) (alert.EventID, error) {
	const of = `partner_id = $1 AND endpoint_id = $2`
	const begin = `coalesce((SELECT min(o.seq) FROM delivery o
		WHERE o.partner_id = $1 AND o.endpoint_id = $2 AND o.state = 'pending'),
		(SELECT min(o.seq) FROM delivery o WHERE o.partner_id = $1 AND o.endpoint_id = $2 AND o.state = 'held'), 0)`
	for _, stretch := range []string{
		`SELECT event_id, seq, attempts, state FROM delivery WHERE ` + of + ` ORDER BY seq DESC LIMIT $3`,
		`SELECT event_id, seq, attempts, state FROM delivery
		WHERE ` + of + ` AND seq >= ` + begin + ` ORDER BY seq LIMIT $3`,
		`SELECT event_id, seq, attempts, state FROM delivery
		WHERE ` + of + ` AND seq < ` + begin + ` ORDER BY seq DESC LIMIT $3`,
	} {
		events, err := collectValues[alert.EventID](
			ctx,
			s.readQuerier(),
			`SELECT event_id FROM (`+stretch+`) AS near WHERE attempts > 0 OR state = 'delivered' OR EXISTS (
			SELECT 1 FROM attempt a WHERE a.partner_id = $1 AND a.endpoint_id = $2 AND a.seq = near.seq)
			ORDER BY seq DESC LIMIT 1`,
			id,
			endpoint,
			alert.HealthOver,
		)
		if err != nil || len(events) > 0 {
			return cmp.Or(append(events, "")...), err
		}
	}
	return "", nil
}
