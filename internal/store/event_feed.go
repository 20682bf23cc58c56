package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/webhook"
)

var (
	_ alert.FeedStore    = Alerts{}
	_ alert.HistoryStore = Alerts{}
)

const keptColumns = `id, seq, type, body, created_at`

// scanKept reads and opens an event.
func (s Alerts) scanKept(id partner.ID) func(row scanner) (alert.Kept, error) {
	return func(row scanner) (alert.Kept, error) {
		var e alert.Kept
		var sealed []byte
		var created int64
		if err := row.Scan(&e.ID, &e.Seq, &e.Type, &sealed, &created); err != nil {
			return e, err
		}
		e.At = fromMicros(created)
		var err error
		if e.Body, err = s.keys.Unseal(eventPlace(id, string(e.ID)), sealed); err != nil {
			return e, fmt.Errorf("open event: %w", err)
		}
		return e, nil
	}
}

// EventsAfter returns up to limit events of some areas that follow seq. The newest number is read first, so that it is
// never ahead of the events.
func (s Alerts) EventsAfter(ctx context.Context, id partner.ID, of alert.Areas, seq int64, limit int) (alert.Stretch, error) {
	var found alert.Stretch
	q := s.reader()
	err := q.QueryRowContext(ctx, `SELECT last FROM event_counter WHERE partner_id = $1`, number(id)).Scan(&found.Newest)
	if errors.Is(err, sql.ErrNoRows) {
		return found, nil
	}
	if err != nil {
		return found, classify(fmt.Errorf("read events: %w", err))
	}
	args, only := []any{number(id), seq, int64(limit)}, ""
	if of != alert.Everything {
		only = ` AND type IN (` + list(&args, of.Types()) + `)`
	}
	found.Events, err = collect(ctx, q, s.scanKept(id), `SELECT `+keptColumns+` FROM event WHERE partner_id = $1 AND seq > $2`+only+`
		ORDER BY seq LIMIT $3`, args...)
	next := seq + 1
	if err != nil || found.Newest < next || len(found.Events) > 0 && found.Events[0].Seq == next {
		return found, err
	}
	err = q.QueryRowContext(ctx, `SELECT NOT EXISTS (SELECT 1 FROM event WHERE partner_id = $1 AND seq = $2)
		AND NOT EXISTS (SELECT 1 FROM event_gap WHERE partner_id = $1 AND seq = $2)`, number(id), next).Scan(&found.Gap)
	if err != nil {
		return found, classify(fmt.Errorf("read events: %w", err))
	}
	return found, nil
}

// pulls are how far a partner has read, by area.
type pulls struct{ cyber, subscriptions int64 }

// NotePull remembers how far a partner has read. A poll that brings nothing new writes nothing.
func (s Alerts) NotePull(ctx context.Context, id partner.ID, of alert.Areas, seq int64) error {
	known, err := s.pulled(ctx, id)
	if err != nil {
		return err
	}
	next := known
	if of.Cyber {
		next.cyber = max(next.cyber, seq)
	}
	if of.Subscriptions {
		next.subscriptions = max(next.subscriptions, seq)
	}
	if next == known {
		return nil
	}
	return s.inTx(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO event_pull (partner_id, seq, subscription_seq, at) VALUES ($1, $2, $3, $4)
			ON CONFLICT (partner_id) DO UPDATE SET at = excluded.at,
				seq = CASE WHEN event_pull.seq < excluded.seq THEN excluded.seq ELSE event_pull.seq END,
				subscription_seq = CASE WHEN event_pull.subscription_seq < excluded.subscription_seq THEN excluded.subscription_seq
					ELSE event_pull.subscription_seq END`, number(id), next.cyber, next.subscriptions, micros(s.now()))
		if err != nil {
			return fmt.Errorf("note pull: %w", err)
		}
		return nil
	})
}

func (s Alerts) pulled(ctx context.Context, id partner.ID) (pulls, error) {
	var p pulls
	err := s.reader().QueryRowContext(ctx, `SELECT seq, subscription_seq FROM event_pull WHERE partner_id = $1`, number(id)).
		Scan(&p.cyber, &p.subscriptions)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return p, classify(fmt.Errorf("read pull: %w", err))
	}
	return p, nil
}

func (s Alerts) seqOf(ctx context.Context, q querier, id partner.ID, event alert.EventID) (int64, error) {
	var seq int64
	err := q.QueryRowContext(ctx, `SELECT seq FROM event WHERE partner_id = $1 AND id = $2`, number(id), string(event)).Scan(&seq)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, alert.ErrEventNotFound
	}
	return seq, classify(err)
}

// Deliveries returns where an event has gone.
func (s Alerts) Deliveries(ctx context.Context, id partner.ID, event alert.EventID) ([]alert.DeliveryStatus, error) {
	seq, err := s.seqOf(ctx, s.reader(), id, event)
	if err != nil {
		return nil, err
	}
	return collect(ctx, s.reader(), func(row scanner) (alert.DeliveryStatus, error) {
		d := alert.DeliveryStatus{Event: event, Seq: seq}
		var next, finished int64
		err := row.Scan(&d.Endpoint, &d.State, &d.Attempts, &next, &finished)
		if d.FinishedAt = fromMicros(finished); d.State == alert.Pending {
			d.NextAt = fromMicros(next)
		}
		return d, err
	}, `SELECT d.endpoint_id, d.state, d.attempts, d.next_at, d.finished_at FROM endpoint e
		JOIN delivery d ON d.partner_id = e.partner_id AND d.endpoint_id = e.id AND d.seq = $2
		WHERE e.partner_id = $1 ORDER BY d.endpoint_id`, number(id), seq)
}

// Attempts returns every logged try of an event, in order.
func (s Alerts) Attempts(ctx context.Context, id partner.ID, event alert.EventID) ([]alert.AttemptLog, error) {
	seq, err := s.seqOf(ctx, s.reader(), id, event)
	if err != nil {
		return nil, err
	}
	list, err := collect(ctx, s.reader(), func(row scanner) (alert.AttemptLog, error) {
		var a alert.AttemptLog
		var at, status, duration int64
		var worker, failure string
		var sealed []byte
		if err := row.Scan(&a.Endpoint, &at, &worker, &status, &failure, &duration, &sealed); err != nil {
			return a, err
		}
		a.At, a.Status, a.Failure, a.Duration = fromMicros(at), int(status), webhook.Failure(failure), time.Duration(duration)*time.Microsecond
		if sealed != nil {
			plain, err := s.keys.Unseal(attemptPlace(string(id), string(a.Endpoint), strconv.FormatInt(seq, 10), strconv.FormatInt(at, 10), worker), sealed)
			if err != nil {
				return a, fmt.Errorf("open answer: %w", err)
			}
			a.Answer = string(plain)
		}
		return a, nil
	}, `SELECT a.endpoint_id, a.at, a.worker, a.status, a.failure, a.duration, a.answer FROM endpoint e
		JOIN attempt a ON a.partner_id = e.partner_id AND a.endpoint_id = e.id AND a.seq = $2
		WHERE e.partner_id = $1`, number(id), seq)
	if err != nil {
		return nil, err
	}
	folded, err := collect(ctx, s.reader(), func(row scanner) (alert.AttemptLog, error) {
		var endpoint alert.EndpointID
		var tried []byte
		err := row.Scan(&endpoint, &tried)
		a := readTried(tried)
		a.Endpoint = endpoint
		return a, err
	}, `SELECT d.endpoint_id, d.tried FROM endpoint e JOIN delivery d ON d.partner_id = e.partner_id AND d.endpoint_id = e.id AND d.seq = $2
		WHERE e.partner_id = $1 AND d.tried IS NOT NULL`, number(id), seq)
	list = append(list, folded...)
	inOrder(list)
	return list, err
}

// window gives a window of times as the store keeps them; a zero time is an open end.
func window(from, to time.Time) (int64, int64) {
	if to.IsZero() {
		return micros(from), math.MaxInt64
	}
	return micros(from), micros(to)
}

// lastPulled is the number of the last event pulled of the area that e belongs to: $5 for subscriptions, $4 for the
// rest.
const lastPulled = `(CASE WHEN e.type LIKE 'subscription.%' THEN CAST($5 AS BIGINT) ELSE CAST($4 AS BIGINT) END)`

// missing is the condition on an event e that is neither pushed nor pulled.
const missing = `e.seq > ` + lastPulled + ` AND (NOT EXISTS (SELECT 1 FROM delivery d WHERE d.partner_id = $1 AND d.seq = e.seq
		AND d.endpoint_id IN (SELECT id FROM endpoint WHERE partner_id = $1))
	OR EXISTS (SELECT 1 FROM delivery d WHERE d.partner_id = $1 AND d.seq = e.seq
		AND d.endpoint_id IN (SELECT id FROM endpoint WHERE partner_id = $1) AND d.state <> 'delivered'))`

// pushed is the opposite without the cursor.
const pushed = `EXISTS (SELECT 1 FROM delivery d WHERE d.partner_id = $1 AND d.seq = e.seq
		AND d.endpoint_id IN (SELECT id FROM endpoint WHERE partner_id = $1))
	AND NOT EXISTS (SELECT 1 FROM delivery d WHERE d.partner_id = $1 AND d.seq = e.seq
		AND d.endpoint_id IN (SELECT id FROM endpoint WHERE partner_id = $1) AND d.state <> 'delivered')`

// EventReport compares the events of a window with what was pushed and pulled. Tests do not count: nobody misses one.
func (s Alerts) EventReport(ctx context.Context, id partner.ID, from, to time.Time, show int) (alert.Report, error) {
	var r alert.Report
	pulled, err := s.pulled(ctx, id)
	if err != nil {
		return r, err
	}
	first, end := window(from, to)
	q := s.reader()
	const where = ` FROM event e WHERE e.partner_id = $1 AND e.created_at >= $2 AND e.created_at < $3 AND e.type <> 'webhook.test'`
	err = q.QueryRowContext(ctx, `SELECT count(*), count(*) FILTER (WHERE `+pushed+`), count(*) FILTER (WHERE e.seq <= `+lastPulled+`),
		count(*) FILTER (WHERE `+missing+`)`+where, number(id), first, end, pulled.cyber, pulled.subscriptions).Scan(&r.Events, &r.Pushed, &r.Pulled, &r.Missing)
	if err != nil {
		return r, classify(fmt.Errorf("report events: %w", err))
	}
	r.Oldest, err = collect(ctx, q, s.scanKept(id), `SELECT `+keptColumns+where+` AND `+missing+` ORDER BY e.seq LIMIT $6`,
		number(id), first, end, pulled.cyber, pulled.subscriptions, int64(show))
	if err != nil {
		return r, err
	}
	r.Endpoints, err = collect(ctx, q, func(row scanner) (alert.EndpointReport, error) {
		var e alert.EndpointReport
		err := row.Scan(&e.Endpoint, &e.State, &e.Delivered, &e.Pending, &e.Held, &e.Failed)
		return e, err
	}, `SELECT p.id, p.state, count(*) FILTER (WHERE d.state = 'delivered'), count(*) FILTER (WHERE d.state = 'pending'),
		count(*) FILTER (WHERE d.state = 'held'), count(*) FILTER (WHERE d.state = 'failed')
		FROM endpoint p LEFT JOIN (delivery d JOIN event e ON e.partner_id = d.partner_id AND e.seq = d.seq
			AND e.created_at >= $2 AND e.created_at < $3 AND e.type <> 'webhook.test') ON d.partner_id = p.partner_id AND d.endpoint_id = p.id
		WHERE p.partner_id = $1 GROUP BY p.id, p.state, p.created_at ORDER BY p.created_at, p.id`, number(id), first, end)
	return r, err
}
