package store

import (
	"context"
	"fmt"
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
// waiting for them: it looks from the newest, as what is claimed or waits for its next try is old.
//
// An endpoint's id says whose deliveries these are. Here and in openDeliveries naming the partner too would let an engine take
// the primary key, which also holds what was delivered long ago, for the index of what is open.
func (s *Store) DueEndpoints(ctx context.Context) ([]alert.EndpointRef, error) {
	var due []alert.EndpointRef
	err := s.db.ReadAnew(ctx, func(q sqldb.Querier) (err error) {
		due, err = collect(ctx, q, func(row scanner) (alert.EndpointRef, error) {
			var r alert.EndpointRef
			var changed int64
			err := row.Scan(&r.Partner, &r.Endpoint, &changed)
			r.ChangedAt = fromMicros(changed)
			return r, err
		}, `SELECT e.partner_id, e.id, e.changed_at FROM endpoint e WHERE e.state = 'enabled' AND (SELECT d.seq FROM delivery d
			WHERE d.endpoint_id = e.id AND d.state = 'pending' AND d.next_at <= $1 ORDER BY d.seq DESC LIMIT 1) IS NOT NULL`, micros(s.now()))
		return err
	})
	return due, classify(err)
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
		if err := tx.PlanAnew(ctx); err != nil {
			return fmt.Errorf("claim deliveries: %w", err)
		}
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
	if err != nil {
		return nil, err
	}
	// Bodies are read when the claim is on disk, so that nobody waits for that: on SQLite there is one writer. If they cannot be
	// read the claims run out like those of a worker that died.
	for i := range batches {
		b := &batches[i]
		if b.Deliveries, err = s.withBodies(ctx, s.reader(ctx), b.Endpoint.Partner, b.Deliveries, until); err != nil {
			return nil, classify(fmt.Errorf("read bodies: %w", err))
		}
	}
	return batches, nil
}

// claimFor claims for one endpoint, whose row the transaction holds: nobody else claims for it meanwhile.
//
// What decides is in Go, and each statement has one sensible plan, also on a table that the engine has not counted yet.
func (s *Store) claimFor(ctx context.Context, tx *sqldb.Tx, e alert.Endpoint, worker string, until time.Time, limit int) ([]alert.Delivery, error) {
	now := micros(s.now())
	var free []alert.Delivery
	waitedFor := map[string]bool{}
	for after, page := int64(0), limit+claimPage; len(free) < limit; page = min(2*page, maxClaimPage) {
		rows, err := openDeliveries(ctx, tx, e, now, after, page)
		if err != nil {
			return nil, err
		}
		for _, d := range rows {
			switch {
			case waitedFor[d.Person]:
			case !d.due:
				waitedFor[d.Person] = true
			case len(free) < limit:
				free = append(free, d.Delivery)
			}
		}
		if len(rows) < page {
			break
		}
		after = rows[len(rows)-1].Seq
	}
	if len(free) == 0 {
		return nil, nil
	}
	return free, takeDeliveries(ctx, tx, e, free, worker, now, until)
}

// claimPage is how far a claim looks beyond its limit at first, and maxClaimPage how far in one statement: a long look is only
// needed when many deliveries wait for their person's earlier one.
const (
	claimPage    = 64
	maxClaimPage = 4096
)

// openDelivery is a pending delivery that is due, or that others wait for.
type openDelivery struct {
	alert.Delivery
	due bool
}

// openDeliveries returns, in the order of their events, pending deliveries that are due, and ordered ones that are not: those are in
// somebody's hands or close to their next try, and later ones of the same person have to wait for them. An earlier one that
// is itself due is no obstacle: it is claimed along with the later ones, and sent before them.
func openDeliveries(ctx context.Context, tx *sqldb.Tx, e alert.Endpoint, now, after int64, limit int) ([]openDelivery, error) {
	return collect(ctx, tx, func(row scanner) (openDelivery, error) {
		d := openDelivery{Delivery: alert.Delivery{Partner: e.Partner, Endpoint: e.ID}}
		var person []byte
		var next int64
		err := row.Scan(&d.Seq, &d.Event, &person, &d.Ordered, &d.Attempts, &next)
		d.Person, d.due = string(person), next <= now
		return d, err
	}, `SELECT seq, event_id, person, ordered, attempts, next_at FROM delivery WHERE endpoint_id = $1 AND state = 'pending'
		AND seq > $2 AND (next_at <= $3 OR ordered) ORDER BY seq LIMIT $4`, string(e.ID), after, now, int64(limit))
}

// takeDeliveries writes a claim. The guard is repeated for the sake of a result that comes in late.
func takeDeliveries(ctx context.Context, tx *sqldb.Tx, e alert.Endpoint, list []alert.Delivery, worker string, now int64, until time.Time) error {
	args := []any{string(e.ID), worker, micros(until), now}
	among := amongOpen(tx, &args, list)
	_, err := tx.ExecContext(ctx, `UPDATE delivery SET lease = $2, next_at = $3 WHERE next_at <= $4 AND endpoint_id = $1 AND `+among, args...)
	return err
}

// amongOpen is the condition for some open deliveries of one endpoint, which are neighbours or nearly so: a stretch of the index
// of what is open, narrowed to those meant.
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

// bodyGap is how many events that nobody asked for are read along rather than beginning another statement.
const bodyGap = 64

// withBodies gives claimed deliveries their bodies: the events of a claim are mostly neighbours, so they are read in runs. A
// delivery whose event was swept in between is left out: its row goes with the sweep.
func (s *Store) withBodies(ctx context.Context, q querier, id partner.ID, claimed []alert.Delivery, until time.Time) ([]alert.Delivery, error) {
	kept := claimed[:0]
	for len(claimed) > 0 {
		n := 1
		for n < len(claimed) && claimed[n].Seq-claimed[n-1].Seq <= bodyGap {
			n++
		}
		type sealedBody struct {
			id   string
			body []byte
		}
		bodies := make(map[int64]sealedBody, n)
		_, err := collect(ctx, q, func(row scanner) (struct{}, error) {
			var seq int64
			var b sealedBody
			err := row.Scan(&b.id, &seq, &b.body)
			bodies[seq] = b
			return struct{}{}, err
		}, `SELECT id, seq, body FROM event WHERE partner_id = $1 AND seq >= $2 AND seq <= $3`, string(id), claimed[0].Seq, claimed[n-1].Seq)
		if err != nil {
			return nil, err
		}
		for _, d := range claimed[:n] {
			b, ok := bodies[d.Seq]
			if !ok {
				continue
			}
			if d.Body, err = s.keys.Unseal(eventPlace(id, b.id), b.body); err != nil {
				return nil, fmt.Errorf("open event: %w", err)
			}
			d.Until = until
			kept = append(kept, d)
		}
		claimed = claimed[n:]
	}
	return kept, nil
}
