package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/webhook"
)

// sweepBatch is how many rows a sweep removes in one transaction at most.
const sweepBatch = 500

func affected(res sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// SweepEvents removes events older than keep with their deliveries and attempts, delivered or not, and what is left of
// deleted endpoints. It returns how many events it removed.
func (s Alerts) SweepEvents(ctx context.Context, keep time.Duration) (int64, error) {
	limit := micros(s.now().Add(-keep))
	total, err := s.sweepOld(ctx, limit)
	if err != nil {
		return total, fmt.Errorf("sweep events: %w", err)
	}
	orphans, err := collect(ctx, s.reader(), func(row scanner) (k endpointKey, err error) {
		err = row.Scan(numbered(&k.partner), &k.endpoint)
		return k, err
	}, `SELECT DISTINCT d.partner_id, d.endpoint_id FROM delivery d WHERE NOT EXISTS (SELECT 1 FROM endpoint e WHERE e.partner_id = d.partner_id AND e.id = d.endpoint_id)`)
	if err != nil {
		return total, fmt.Errorf("sweep deliveries: %w", err)
	}
	for _, k := range orphans {
		if err := s.deleteDeliveries(ctx, k.partner, k.endpoint); err != nil {
			return total, err
		}
	}
	return total, nil
}

// eventKey names an event.
type eventKey struct {
	partner partner.ID
	seq     int64
}

// sweepOld removes the oldest events up to limit, and what hangs on them. How many go at once depends on how many
// endpoints each has deliveries for.
func (s Alerts) sweepOld(ctx context.Context, limit int64) (total int64, err error) {
	for {
		old, err := collect(ctx, s.reader(), func(row scanner) (k eventKey, err error) {
			err = row.Scan(numbered(&k.partner), &k.seq)
			return k, err
		}, `SELECT partner_id, seq FROM event WHERE created_at <= $1 ORDER BY created_at LIMIT $2`, limit, int64(sweepBatch))
		if err != nil || len(old) == 0 {
			return total, err
		}
		slices.SortStableFunc(old, func(a, b eventKey) int { return cmp.Compare(a.partner, b.partner) })
		for len(old) > 0 {
			n := 1
			for n < len(old) && old[n].partner == old[0].partner {
				n++
			}
			endpoints, err := deliveredTo(ctx, s.reader(), old[0].partner)
			if err != nil {
				return total, err
			}
			done, err := s.sweepEvents(ctx, old[:n], endpoints)
			if total, old = total+done, old[n:]; err != nil {
				return total, err
			}
		}
	}
}

// rowsOfDelivery is how many rows a delivery with its tries may come to.
const rowsOfDelivery = 1 + webhook.MaxAttempts

// sweepEvents removes events of one partner with their deliveries and tries.
func (s Alerts) sweepEvents(ctx context.Context, old []eventKey, endpoints []alert.EndpointID) (int64, error) {
	largest := max(1, sweepBatch/(1+rowsOfDelivery*len(endpoints)))
	return inParts(ctx, s.core, old, largest, func(tx *sqldb.Tx, part []eventKey) error {
		var list []sqldb.Statement
		for _, k := range part {
			for _, endpoint := range endpoints {
				args := []any{number(k.partner), string(endpoint), k.seq}
				list = append(list,
					sqldb.Statement{Query: `DELETE FROM attempt WHERE partner_id = $1 AND endpoint_id = $2 AND seq = $3`, Args: args},
					sqldb.Statement{Query: `DELETE FROM delivery WHERE partner_id = $1 AND endpoint_id = $2 AND seq = $3`, Args: args})
			}
			list = append(list, sqldb.Statement{Query: `DELETE FROM event WHERE partner_id = $1 AND seq = $2`, Args: []any{number(k.partner), k.seq}})
		}
		return tx.Run(ctx, list)
	})
}

// deliveredTo are the endpoints that a partner has deliveries for, deleted ones included. Each is one step in the key:
// to read all deliveries for it would take as long as there are many.
func deliveredTo(ctx context.Context, q querier, id partner.ID) (list []alert.EndpointID, err error) {
	for last := ""; ; {
		var next sql.NullString
		err := q.QueryRowContext(ctx, `SELECT min(endpoint_id) FROM delivery WHERE partner_id = $1 AND endpoint_id > $2`, number(id), last).Scan(&next)
		if err != nil || !next.Valid {
			return list, err
		}
		last = next.String
		list = append(list, alert.EndpointID(last))
	}
}

// inParts does something with all of a list in transactions of a few of them each, never more than largest.
func inParts[T any](ctx context.Context, c core, all []T, largest int, fn func(tx *sqldb.Tx, part []T) error) (int64, error) {
	done, err := c.batches(ctx, int64(largest), func(tx *sqldb.Tx, done, limit int64) (int64, error) {
		part := all[done:min(int64(len(all)), done+limit)]
		if len(part) == 0 {
			return 0, nil
		}
		return int64(len(part)), fn(tx, part)
	})
	return done, classify(err)
}
