package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
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

// claimFor claims for one endpoint. A delivery has to wait when an earlier ordered one of its person is pending and not due:
// in somebody's hands, or close to its next try. An earlier one that is due comes along, as the lowest numbers are taken first.
func (s *Store) claimFor(ctx context.Context, tx *sqldb.Tx, e alert.Endpoint, worker string, until time.Time, limit int) ([]alert.Delivery, error) {
	claimed, err := collect(ctx, tx, func(row scanner) (alert.Delivery, error) {
		d := alert.Delivery{Partner: e.Partner, Endpoint: e.ID, Until: until}
		var person []byte
		err := row.Scan(&d.Seq, &d.Event, &person, &d.Ordered, &d.Attempts)
		d.Person = string(person)
		return d, err
	}, `UPDATE delivery SET lease = $4, next_at = $5
		WHERE partner_id = $1 AND endpoint_id = $2 AND state = 'pending' AND next_at <= $3 AND seq IN (
			SELECT d.seq FROM delivery d WHERE d.partner_id = $1 AND d.endpoint_id = $2 AND d.state = 'pending' AND d.next_at <= $3
			AND NOT EXISTS (SELECT 1 FROM delivery p WHERE p.partner_id = $1 AND p.endpoint_id = $2 AND p.person = d.person
				AND p.state = 'pending' AND p.ordered AND p.seq < d.seq AND p.next_at > $3)
			ORDER BY d.seq LIMIT $6)
		RETURNING seq, event_id, person, ordered, attempts`,
		string(e.Partner), string(e.ID), micros(s.now()), worker, micros(until), int64(limit))
	if err != nil || len(claimed) == 0 {
		return nil, err
	}
	bodies, err := s.bodies(ctx, tx, e.Partner, claimed)
	if err != nil {
		return nil, err
	}
	return inOrder(claimed, bodies), nil
}

// inOrder sorts claimed deliveries by their events' order and gives them their bodies. One whose event was swept in between is
// left out: its row goes with the sweep.
func inOrder(claimed []alert.Delivery, bodies map[int64][]byte) []alert.Delivery {
	kept := claimed[:0]
	for _, d := range claimed {
		if d.Body = bodies[d.Seq]; d.Body != nil {
			kept = append(kept, d)
		}
	}
	slices.SortFunc(kept, func(a, b alert.Delivery) int { return cmp.Compare(a.Seq, b.Seq) })
	return kept
}

// bodies opens the events of deliveries, by number.
func (s *Store) bodies(ctx context.Context, q querier, id partner.ID, deliveries []alert.Delivery) (map[int64][]byte, error) {
	args := []any{string(id)}
	seqs := make([]int64, len(deliveries))
	for i, d := range deliveries {
		seqs[i] = d.Seq
	}
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
	}, `SELECT id, seq, body FROM event WHERE partner_id = $1 AND seq IN (`+numbers(&args, seqs)+`)`, args...)
	if err != nil {
		return nil, fmt.Errorf("open events: %w", err)
	}
	return opened, nil
}

// numbers is list for numbers.
func numbers(args *[]any, values []int64) string {
	var marks strings.Builder
	for i, v := range values {
		*args = append(*args, v)
		if i > 0 {
			marks.WriteString(", ")
		}
		marks.WriteByte('$')
		marks.WriteString(strconv.Itoa(len(*args)))
	}
	return marks.String()
}
