package store

import (
	"context"
	"fmt"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

var _ alert.Queue = Alerts{}

// OpenDeliveries returns, in the order of their events, pending deliveries that are due, and ordered ones that are not:
// those are close to their next try, and later ones of the same person have to wait for them.
func (s Alerts) OpenDeliveries(
	ctx context.Context, id partner.ID, endpoint alert.EndpointID, after int64, limit int,
) ([]alert.Open, error) {
	now := toMicros(s.now())
	return collectRows(ctx, s.db.UnpreparedReader(), func(row scanner, d *alert.Open) error {
		*d = alert.Open{Delivery: alert.Delivery{Partner: id, Endpoint: endpoint}}
		var person []byte
		var next int64
		err := row.Scan(&d.Seq, &d.Event, &person, &d.Ordered, &d.Attempts, &next, &d.Tried)
		d.Person, d.Due = string(person), next <= now
		return err
	}, `SELECT seq, event_id, person, ordered, attempts, next_at, tried IS NOT NULL FROM delivery
		WHERE partner_id = $1 AND endpoint_id = $2 AND state = 'pending' AND seq > $3 AND (next_at <= $4 OR ordered)
		ORDER BY seq LIMIT $5`,
		id,
		endpoint,
		after,
		now,
		limit,
	)
}

// openDeliveriesCondition returns the condition for some open deliveries of one endpoint, which are neighbours or
// nearly so: a stretch of the index of what is open, narrowed to those meant.
func openDeliveriesCondition(tx *sqldb.Tx, args *[]any, list []alert.Delivery) string {
	low, high := list[0].Seq, list[0].Seq
	numbers := make([]int64, len(list))
	for i, d := range list {
		low, high, numbers[i] = min(low, d.Seq), max(high, d.Seq), d.Seq
	}
	n := len(*args)
	*args = append(*args, low, high)
	one := tx.EngineName().NumbersCondition(args, numbers)
	return fmt.Sprintf("state = 'pending' AND seq >= $%d AND seq <= $%d AND seq %s", n+1, n+2, one)
}

// seqGap is how many unwanted events one statement reads over before a second statement is cheaper.
const seqGap = 64

// neighbours returns how many of n deliveries, in the order of their events, one statement is for.
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
		err := eachRow(ctx, s.readQuerier(), func(row scanner) error {
			var seq int64
			var b sealedBody
			err := row.Scan(&b.id, &seq, &b.body)
			bodies[seq] = b
			return err
		}, `SELECT id, seq, body FROM event WHERE partner_id = $1 AND seq >= $2 AND seq <= $3`,
			id,
			list[0].Seq,
			list[n-1].Seq,
		)
		if err != nil {
			return nil, err
		}
		for _, d := range list[:n] {
			b, ok := bodies[d.Seq]
			if !ok {
				continue
			}
			if err := s.openSealed(eventPlace(id, b.id), b.body, &d.Body); err != nil {
				return nil, err
			}
			kept = append(kept, d)
		}
		list = list[n:]
	}
	return kept, nil
}
