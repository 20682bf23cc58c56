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

// scanKeptEvent reads and opens an event.
func (s Alerts) scanKeptEvent(id partner.ID) func(row scanner) (alert.Kept, error) {
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
	q := s.readQuerier()
	err := q.QueryRowContext(ctx, `SELECT c.last, coalesce((SELECT e.id FROM event e WHERE e.partner_id = $1 AND e.seq = c.last), ''),
			coalesce((SELECT e.id FROM event e WHERE e.partner_id = $1 AND e.seq = $2), '')
		FROM event_counter c WHERE c.partner_id = $1`, partnerNumber(id), seq).Scan(&found.Newest, &found.NewestID, &found.At)
	if errors.Is(err, sql.ErrNoRows) {
		return found, nil
	}
	if err != nil {
		return found, classifyError(fmt.Errorf("read events: %w", err))
	}
	args, only := []any{partnerNumber(id), seq, int64(limit)}, ""
	if of != alert.Everything {
		only = ` AND type IN (` + appendListMarks(&args, of.ListTypes()) + `)`
	}
	found.Events, err = collectRows(ctx, q, s.scanKeptEvent(id), `SELECT `+keptColumns+` FROM event WHERE partner_id = $1 AND seq > $2`+only+`
		ORDER BY seq LIMIT $3`, args...)
	next := seq + 1
	if err != nil || found.Newest < next || len(found.Events) > 0 && found.Events[0].Seq == next {
		return found, err
	}
	err = q.QueryRowContext(ctx, `SELECT NOT EXISTS (SELECT 1 FROM event WHERE partner_id = $1 AND seq = $2)
		AND NOT EXISTS (SELECT 1 FROM event_gap WHERE partner_id = $1 AND seq = $2)`, partnerNumber(id), next).Scan(&found.Gap)
	return found, classifyError(wrapError("read events", err))
}

// NewestEvents returns up to limit events of some areas, the newest first.
func (s Alerts) NewestEvents(ctx context.Context, id partner.ID, of alert.Areas, limit int) ([]alert.Kept, error) {
	args := []any{partnerNumber(id), int64(limit)}
	return collectRows(ctx, s.readQuerier(), s.scanKeptEvent(id), `SELECT `+keptColumns+` FROM event WHERE partner_id = $1
		AND type IN (`+appendListMarks(&args, of.ListTypes())+`) ORDER BY seq DESC LIMIT $2`, args...)
}

// SavePull remembers how far a partner has read. A poll that brings nothing new writes nothing.
func (s Alerts) SavePull(ctx context.Context, id partner.ID, of alert.Areas, seq int64) error {
	known, err := s.loadPulls(ctx, id)
	if err != nil {
		return err
	}
	next := known.WithRead(of, seq)
	if next == known {
		return nil
	}
	return s.runInTx(ctx, func(tx *sqldb.Tx) error {
		return execStatement(ctx, tx, "note pull", `INSERT INTO event_pull (partner_id, seq, subscription_seq, at) VALUES ($1, $2, $3, $4)
			ON CONFLICT (partner_id) DO UPDATE SET at = excluded.at,
				seq = CASE WHEN event_pull.seq < excluded.seq THEN excluded.seq ELSE event_pull.seq END,
				subscription_seq = CASE WHEN event_pull.subscription_seq < excluded.subscription_seq THEN excluded.subscription_seq
					ELSE event_pull.subscription_seq END`, partnerNumber(id), next.Cyber, next.Subscriptions, toMicros(s.now()))
	})
}

// loadPulls returns how far the partner has read.
func (s Alerts) loadPulls(ctx context.Context, id partner.ID) (alert.Pulls, error) {
	var p alert.Pulls
	err := s.readQuerier().QueryRowContext(ctx, `SELECT seq, subscription_seq FROM event_pull WHERE partner_id = $1`, partnerNumber(id)).
		Scan(&p.Cyber, &p.Subscriptions)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return p, classifyError(fmt.Errorf("read pull: %w", err))
	}
	return p, nil
}

// eventSeq returns the number of an event.
func (s Alerts) eventSeq(ctx context.Context, q querier, id partner.ID, event alert.EventID) (int64, error) {
	var seq int64
	err := q.QueryRowContext(ctx, `SELECT seq FROM event WHERE partner_id = $1 AND id = $2`, partnerNumber(id), string(event)).Scan(&seq)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, alert.ErrEventNotFound
	}
	return seq, classifyError(err)
}

// Deliveries returns where an event has gone.
func (s Alerts) Deliveries(ctx context.Context, id partner.ID, event alert.EventID) ([]alert.DeliveryStatus, error) {
	seq, err := s.eventSeq(ctx, s.readQuerier(), id, event)
	if err != nil {
		return nil, err
	}
	return collectRows(ctx, s.readQuerier(), func(row scanner) (alert.DeliveryStatus, error) {
		d := alert.DeliveryStatus{Event: event, Seq: seq}
		var next, finished int64
		err := row.Scan(&d.Endpoint, &d.State, &d.Attempts, &next, &finished)
		if d.FinishedAt = fromMicros(finished); d.State == alert.Pending {
			d.NextAt = fromMicros(next)
		}
		return d, err
	}, `SELECT d.endpoint_id, d.state, d.attempts, d.next_at, d.finished_at FROM delivery d
		WHERE d.partner_id = $1 AND d.seq = $2 AND `+atEndpoints+` ORDER BY d.endpoint_id`, partnerNumber(id), seq)
}

// atEndpoints are the deliveries of partner $1 whose endpoint there still is. Named one by one, they are looked up by their key; joined to
// the endpoints, SQLite reads all deliveries of the partner for those of one event.
const atEndpoints = `d.endpoint_id IN (SELECT id FROM endpoint WHERE partner_id = $1)`

// ListAttempts returns every logged try of an event, in order.
func (s Alerts) ListAttempts(ctx context.Context, id partner.ID, event alert.EventID) ([]alert.AttemptLog, error) {
	seq, err := s.eventSeq(ctx, s.readQuerier(), id, event)
	if err != nil {
		return nil, err
	}
	list, err := collectRows(ctx, s.readQuerier(), func(row scanner) (alert.AttemptLog, error) {
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
	}, `SELECT a.endpoint_id, a.at, a.worker, a.status, a.failure, a.duration, a.answer FROM attempt a
		WHERE a.partner_id = $1 AND a.seq = $2 AND a.endpoint_id IN (SELECT id FROM endpoint WHERE partner_id = $1)`, partnerNumber(id), seq)
	if err != nil {
		return nil, err
	}
	folded, err := collectRows(ctx, s.readQuerier(), func(row scanner) (alert.AttemptLog, error) {
		var endpoint alert.EndpointID
		var tried []byte
		err := row.Scan(&endpoint, &tried)
		a := decodeAttempt(tried)
		a.Endpoint = endpoint
		return a, err
	}, `SELECT d.endpoint_id, d.tried FROM delivery d WHERE d.partner_id = $1 AND d.seq = $2 AND `+atEndpoints+` AND d.tried IS NOT NULL`, partnerNumber(id), seq)
	list = append(list, folded...)
	sortByTime(list)
	return list, err
}

// timeWindow gives a window of times as the store keeps them; a zero time is an open end.
func timeWindow(from, to time.Time) (int64, int64) {
	if to.IsZero() {
		return toMicros(from), math.MaxInt64
	}
	return toMicros(from), toMicros(to)
}
