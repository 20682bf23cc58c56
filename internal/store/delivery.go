package store

import (
	"context"
	"fmt"
	"time"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
)

var _ alert.Queue = Alerts{}

// Due is signalled after a commit of this process made deliveries due.
func (s Alerts) Due() <-chan struct{} { return s.due }

func (s Alerts) signalDue() {
	select {
	case s.due <- struct{}{}:
	default: // somebody is being told already
	}
}

// DueEndpoints returns the enabled endpoints that have a delivery due and that no other worker holds. Its cost grows
// with the endpoints, not with what is waiting for them: it looks from the newest, as what waits for its next try is
// old.
//
// An endpoint's id says whose deliveries these are. Here and in OpenDeliveries naming the partner too would let an
// engine take the primary key, which also holds what was delivered long ago, for the index of what is open.
func (s Alerts) DueEndpoints(ctx context.Context, worker string) ([]alert.EndpointRef, error) {
	due, err := collect(ctx, s.db.ReadAnew(), func(row scanner) (alert.EndpointRef, error) {
		var r alert.EndpointRef
		var changed int64
		err := row.Scan(numbered(&r.Partner), &r.Endpoint, &changed, &r.Newest)
		r.ChangedAt = fromMicros(changed)
		return r, err
	}, `SELECT partner_id, id, changed_at, newest FROM (SELECT e.partner_id, e.id, e.changed_at, (SELECT d.seq FROM delivery d
			WHERE d.endpoint_id = e.id AND d.state = 'pending' AND d.next_at <= $1 ORDER BY d.seq DESC LIMIT 1) AS newest
		FROM endpoint e WHERE e.state = 'enabled' AND NOT EXISTS (
			SELECT 1 FROM endpoint_lease l WHERE l.endpoint_id = e.id AND l.worker <> $2 AND l.until > $1)) AS due
		WHERE newest IS NOT NULL`, micros(s.now()), worker)
	return due, classify(err)
}

// TakeEndpoints takes endpoints that nobody else holds until the given time. That one worker at a time has an endpoint
// is what keeps a person's events in order: it knows every earlier one as it is.
func (s Alerts) TakeEndpoints(ctx context.Context, worker string, until time.Time, endpoints []alert.EndpointID) ([]alert.Endpoint, error) {
	statements := make([]sqldb.Statement, len(endpoints))
	now := micros(s.now())
	for i, id := range endpoints {
		statements[i] = sqldb.Statement{Query: `INSERT INTO endpoint_lease (endpoint_id, worker, until)
			SELECT id, $2, $3 FROM endpoint WHERE id = $1 AND state = 'enabled'
			ON CONFLICT (endpoint_id) DO UPDATE SET worker = $2, until = $3 WHERE endpoint_lease.worker = $2 OR endpoint_lease.until <= $4`,
			Args: []any{string(id), worker, micros(until), now}}
	}
	var taken []alert.Endpoint
	err := s.inTx(ctx, func(tx *sqldb.Tx) error {
		err := tx.Run(ctx, statements)
		if err == nil {
			args := []any{worker}
			marks := list(&args, endpoints)
			taken, err = collect(ctx, tx, s.scanEndpoint, `SELECT `+endpointColumns+` FROM endpoint WHERE state = 'enabled'
				AND id IN (SELECT endpoint_id FROM endpoint_lease WHERE worker = $1 AND endpoint_id IN (`+marks+`))`, args...)
		}
		if err != nil {
			return fmt.Errorf("take endpoints: %w", err)
		}
		return nil
	})
	return taken, err
}

// KeepEndpoints holds on to endpoints until the given time, lets go of all others of the worker, and returns those it
// holds. A hold that ran out and that nobody has taken is still there.
func (s Alerts) KeepEndpoints(ctx context.Context, worker string, until time.Time, keep []alert.EndpointID) ([]alert.EndpointID, error) {
	var kept []alert.EndpointID
	err := s.inTx(ctx, func(tx *sqldb.Tx) error {
		args := []any{worker}
		others := `DELETE FROM endpoint_lease WHERE worker = $1`
		if len(keep) > 0 {
			others += ` AND endpoint_id NOT IN (` + list(&args, keep) + `)`
		}
		_, err := tx.ExecContext(ctx, others, args...)
		if err == nil {
			kept, err = collect(ctx, tx, func(row scanner) (id alert.EndpointID, err error) { return id, row.Scan(&id) },
				`UPDATE endpoint_lease SET until = $2 WHERE worker = $1 RETURNING endpoint_id`, worker, micros(until))
		}
		if err != nil {
			return fmt.Errorf("keep endpoints: %w", err)
		}
		return nil
	})
	return kept, err
}

// OpenDeliveries returns, in the order of their events, pending deliveries that are due, and ordered ones that are not:
// those are close to their next try, and later ones of the same person have to wait for them.
func (s Alerts) OpenDeliveries(ctx context.Context, id partner.ID, endpoint alert.EndpointID, after int64, limit int) ([]alert.Open, error) {
	now := micros(s.now())
	open, err := collect(ctx, s.db.ReadAnew(), func(row scanner) (alert.Open, error) {
		d := alert.Open{Delivery: alert.Delivery{Partner: id, Endpoint: endpoint}}
		var person []byte
		var next int64
		err := row.Scan(&d.Seq, &d.Event, &person, &d.Ordered, &d.Attempts, &next, &d.Tried)
		d.Person, d.Due = string(person), next <= now
		return d, err
	}, `SELECT seq, event_id, person, ordered, attempts, next_at, tried IS NOT NULL FROM delivery WHERE endpoint_id = $1 AND state = 'pending'
		AND seq > $2 AND (next_at <= $3 OR ordered) ORDER BY seq LIMIT $4`, string(endpoint), after, now, int64(limit))
	return open, classify(err)
}

// amongOpen is the condition for some open deliveries of one endpoint, which are neighbours or nearly so: a stretch of
// the index of what is open, narrowed to those meant.
func amongOpen(tx *sqldb.Tx, args *[]any, list []alert.Delivery) string {
	low, high := list[0].Seq, list[0].Seq
	numbers := make([]int64, len(list))
	for i, d := range list {
		low, high, numbers[i] = min(low, d.Seq), max(high, d.Seq), d.Seq
	}
	n := len(*args)
	*args = append(*args, low, high, tx.List(numbers))
	return fmt.Sprintf("state = 'pending' AND seq >= $%d AND seq <= $%d AND seq %s", n+1, n+2, tx.InList(n+3))
}

// seqGap is how many events that nobody asked for a statement goes over rather than that another begins.
const seqGap = 64

// neighbours is how many of n deliveries, in the order of their events, one statement is for.
func neighbours(n int, seq func(i int) int64) int {
	for i := 1; i < n; i++ {
		if seq(i)-seq(i-1) > seqGap {
			return i
		}
	}
	return n
}

// WithBodies gives deliveries, in the order of their events, their bodies: the events are mostly neighbours, so they
// are read in runs. A delivery whose event was swept in between is left out: its row goes with the sweep.
func (s Alerts) WithBodies(ctx context.Context, id partner.ID, list []alert.Delivery) ([]alert.Delivery, error) {
	kept := list[:0]
	for len(list) > 0 {
		n := neighbours(len(list), func(i int) int64 { return list[i].Seq })
		type sealedBody struct {
			id   string
			body []byte
		}
		bodies := make(map[int64]sealedBody, n)
		_, err := collect(ctx, s.reader(), func(row scanner) (struct{}, error) {
			var seq int64
			var b sealedBody
			err := row.Scan(&b.id, &seq, &b.body)
			bodies[seq] = b
			return struct{}{}, err
		}, `SELECT id, seq, body FROM event WHERE partner_id = $1 AND seq >= $2 AND seq <= $3`, number(id), list[0].Seq, list[n-1].Seq)
		if err != nil {
			return nil, classify(fmt.Errorf("read bodies: %w", err))
		}
		for _, d := range list[:n] {
			b, ok := bodies[d.Seq]
			if !ok {
				continue
			}
			if d.Body, err = s.keys.Unseal(eventPlace(id, b.id), b.body); err != nil {
				return nil, fmt.Errorf("open event: %w", err)
			}
			kept = append(kept, d)
		}
		list = list[n:]
	}
	return kept, nil
}
