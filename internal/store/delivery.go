package store

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"vigia/internal/alert"
	"vigia/internal/partner"
	"vigia/internal/sqldb"
)

var _ alert.Queue = (*Store)(nil)

// Due is signalled after a commit of this process made deliveries due.
func (s *Store) Due() <-chan struct{} { return s.due }

func (s *Store) signalDue() {
	select {
	case s.due <- struct{}{}:
	default: // somebody is being told already
	}
}

// DueEndpoints returns the enabled endpoints that have a delivery due. Its cost grows with the endpoints, not with what is
// waiting for them.
func (s *Store) DueEndpoints(ctx context.Context) ([]alert.EndpointRef, error) {
	return collect(ctx, s.reader(ctx), func(row scanner) (alert.EndpointRef, error) {
		var r alert.EndpointRef
		var changed int64
		err := row.Scan(&r.Partner, &r.Endpoint, &changed)
		r.ChangedAt = fromMicros(changed)
		return r, err
	}, `SELECT e.partner_id, e.id, e.changed_at FROM endpoint e WHERE e.state = 'enabled' AND EXISTS (
		SELECT 1 FROM delivery d WHERE d.partner_id = e.partner_id AND d.endpoint_id = e.id AND d.state = 'pending' AND d.next_at <= $1)`,
		micros(s.now()))
}

// ClaimDeliveries takes due deliveries of the wanted endpoints until the given time.
//
// One claimer at a time works on an endpoint: its row is locked, and who finds it locked passes by. That is what keeps a
// person's events in order, for a claim then sees every earlier one as it is.
func (s *Store) ClaimDeliveries(ctx context.Context, worker string, until time.Time, wants []alert.Want) ([]alert.Batch, error) {
	limits := make(map[alert.EndpointID]int, len(wants))
	ids := make([]alert.EndpointID, len(wants))
	for i, w := range wants {
		limits[w.Endpoint], ids[i] = w.Limit, w.Endpoint
	}
	var batches []alert.Batch
	err := s.inTx(ctx, func(tx *sqldb.Tx) error {
		batches = batches[:0]
		var args []any
		marks := list(&args, ids)
		endpoints, err := collect(ctx, tx, s.scanEndpoint, `SELECT `+endpointColumns+` FROM endpoint
			WHERE state = 'enabled' AND id IN (`+marks+`)`+s.db.SkipLocked(), args...)
		if err != nil {
			return fmt.Errorf("claim deliveries: %w", err)
		}
		for _, e := range endpoints {
			claimed, err := s.claimFor(ctx, tx, e, worker, until, limits[e.ID])
			if err != nil {
				return fmt.Errorf("claim deliveries: %w", err)
			}
			if len(claimed) > 0 {
				batches = append(batches, alert.Batch{Endpoint: e, Deliveries: claimed})
			}
		}
		return nil
	})
	return batches, err
}

// claimFor claims for one endpoint, whose row the transaction holds: nobody else claims for it meanwhile.
//
// It is three plain statements rather than one clever one. What decides is in Go, and each statement has one sensible plan,
// also on a table that the engine has not counted yet.
func (s *Store) claimFor(ctx context.Context, tx *sqldb.Tx, e alert.Endpoint, worker string, until time.Time, limit int) ([]alert.Delivery, error) {
	now := micros(s.now())
	var free []alert.Delivery
	for after, page := int64(0), limit; len(free) < limit; page = min(2*page, maxClaimPage) {
		due, err := dueOf(ctx, tx, e, now, after, page)
		if err != nil {
			return nil, err
		}
		heads, err := headsOf(ctx, tx, e, now, due)
		if err != nil {
			return nil, err
		}
		for _, d := range due {
			if head, ok := heads[d.Person]; (!ok || head > d.Seq) && len(free) < limit {
				free = append(free, d)
			}
		}
		if len(due) < page {
			break
		}
		after = due[len(due)-1].Seq
	}
	if len(free) == 0 {
		return nil, nil
	}
	args := []any{string(e.Partner), string(e.ID), now, worker, micros(until)}
	_, err := tx.ExecContext(ctx, `UPDATE delivery SET lease = $4, next_at = $5 WHERE partner_id = $1 AND endpoint_id = $2
		AND state = 'pending' AND next_at <= $3 AND seq IN (`+padded(&args, seqsOf(free))+`)`, args...)
	if err != nil {
		return nil, err
	}
	bodies, err := s.bodies(ctx, tx, e.Partner, free)
	if err != nil {
		return nil, err
	}
	return withBodies(free, bodies, until), nil
}

// maxClaimPage bounds how many due deliveries a claim looks at in one statement. Usually the first page is enough: a longer
// look is only needed when many wait for their person's earlier one.
const maxClaimPage = 4096

// dueOf returns due deliveries in the order of their events.
func dueOf(ctx context.Context, tx *sqldb.Tx, e alert.Endpoint, now, after int64, limit int) ([]alert.Delivery, error) {
	return collect(ctx, tx, func(row scanner) (alert.Delivery, error) {
		d := alert.Delivery{Partner: e.Partner, Endpoint: e.ID}
		var person []byte
		err := row.Scan(&d.Seq, &d.Event, &person, &d.Ordered, &d.Attempts)
		d.Person = string(person)
		return d, err
	}, `SELECT seq, event_id, person, ordered, attempts FROM delivery WHERE partner_id = $1 AND endpoint_id = $2 AND state = 'pending'
		AND next_at <= $3 AND seq > $4 ORDER BY seq LIMIT $5`, string(e.Partner), string(e.ID), now, after, int64(limit))
}

// headsOf returns, for the persons of deliveries, the first ordered delivery that is pending and not due: in somebody's hands,
// or close to its next try. Later ones of that person have to wait for it. An earlier one that is itself due is no
// obstacle: it is claimed along with the later ones, and sent before them.
func headsOf(ctx context.Context, tx *sqldb.Tx, e alert.Endpoint, now int64, due []alert.Delivery) (map[string]int64, error) {
	persons := map[string]bool{}
	var values [][]byte
	for _, d := range due {
		if d.Person != "" && !persons[d.Person] {
			persons[d.Person] = true
			values = append(values, []byte(d.Person))
		}
	}
	if len(values) == 0 {
		return nil, nil //nolint:nilnil // nobody is waited for
	}
	args := []any{string(e.Partner), string(e.ID), now}
	heads := map[string]int64{}
	_, err := collect(ctx, tx, func(row scanner) (struct{}, error) {
		var person []byte
		var seq int64
		err := row.Scan(&person, &seq)
		heads[string(person)] = seq
		return struct{}{}, err
	}, `SELECT person, min(seq) FROM delivery WHERE partner_id = $1 AND endpoint_id = $2 AND state = 'pending' AND ordered
		AND next_at > $3 AND person IN (`+padded(&args, values)+`) GROUP BY person`, args...)
	return heads, err
}

func seqsOf(list []alert.Delivery) []int64 {
	seqs := make([]int64, len(list))
	for i, d := range list {
		seqs[i] = d.Seq
	}
	return seqs
}

// withBodies gives claimed deliveries their bodies. One whose event was swept in between is left out: its row goes with the
// sweep.
func withBodies(claimed []alert.Delivery, bodies map[int64][]byte, until time.Time) []alert.Delivery {
	kept := claimed[:0]
	for _, d := range claimed {
		if d.Body, d.Until = bodies[d.Seq], until; d.Body != nil {
			kept = append(kept, d)
		}
	}
	return kept
}

// bodies opens the events of deliveries, by number.
func (s *Store) bodies(ctx context.Context, q querier, id partner.ID, deliveries []alert.Delivery) (map[int64][]byte, error) {
	args := []any{string(id)}
	opened := make(map[int64][]byte, len(deliveries))
	_, err := collect(ctx, q, func(row scanner) (struct{}, error) {
		var event string
		var seq int64
		var sealed []byte
		if err := row.Scan(&event, &seq, &sealed); err != nil {
			return struct{}{}, err
		}
		body, err := s.keys.Unseal(eventPlace(id, event), sealed)
		opened[seq] = body
		return struct{}{}, err
	}, `SELECT id, seq, body FROM event WHERE partner_id = $1 AND seq IN (`+padded(&args, seqsOf(deliveries))+`)`, args...)
	if err != nil {
		return nil, fmt.Errorf("open events: %w", err)
	}
	return opened, nil
}

// padded appends values to args and returns their marks for an IN list, filled up to a power of two with the last value:
// a handful of texts then serves every length, and the engine keeps them prepared.
func padded[T any](args *[]any, values []T) string {
	size := 1
	for size < len(values) {
		size *= 2
	}
	marks := make([]byte, 0, 6*size)
	for i := range size {
		*args = append(*args, values[min(i, len(values)-1)])
		if i > 0 {
			marks = append(marks, ", "...)
		}
		marks = append(marks, '$')
		marks = strconv.AppendInt(marks, int64(len(*args)), 10)
	}
	return string(marks)
}
