package store

import (
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

// tellingAtOnce returns how many things of a partner may change in one transaction where each of them is an event: that
// is a row of the thing, one of the event and one for each endpoint.
func tellingAtOnce(ctx context.Context, q querier, id partner.ID) (int, error) {
	var endpoints int
	if err := q.QueryRowContext(ctx, `SELECT count(*) FROM endpoint WHERE partner_id = $1`, partnerNumber(id)).Scan(&endpoints); err != nil {
		return 0, classifyError(fmt.Errorf("count endpoints: %w", err))
	}
	return max(1, sweepBatch/(2+endpoints)), nil
}

// inEventParts does something with things of a partner that are events each, in transactions of a few of them.
func inEventParts[T any](ctx context.Context, c core, id partner.ID, all []T, fn func(tx *sqldb.Tx, part []T) error) error {
	atOnce, err := tellingAtOnce(ctx, c.readQuerier(), id)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(all, atOnce) {
		if err := c.runInTx(ctx, func(tx *sqldb.Tx) error { return fn(tx, part) }); err != nil {
			return err
		}
	}
	return nil
}

// rowsAffected returns how many rows a statement changed.
func rowsAffected(res sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// SweepEvents removes events older than keep with their deliveries and attempts, delivered or not, and what is left of
// deleted endpoints, and holds what still waits for disabled ones. It returns how many events it removed.
func (s Alerts) SweepEvents(ctx context.Context, keep time.Duration) (int64, error) {
	limit := toMicros(s.now().Add(-keep))
	total, err := s.sweepOldEvents(ctx, limit)
	if err != nil {
		return total, fmt.Errorf("sweep events: %w", err)
	}
	return total, s.sweepDisabled(ctx)
}

// sweepDisabled holds pending deliveries of disabled endpoints. They exist when the process that disabled or enabled
// the endpoint ended half way.
func (s Alerts) sweepDisabled(ctx context.Context) error {
	waiting, err := collectRows(ctx, s.readQuerier(), func(row scanner) (k endpointKey, err error) {
		err = row.Scan(scanPartnerID(&k.partner), &k.endpoint)
		return k, err
	}, `SELECT e.partner_id, e.id FROM endpoint e WHERE e.state = 'disabled' AND EXISTS (
		SELECT 1 FROM delivery d WHERE d.partner_id = e.partner_id AND d.endpoint_id = e.id AND d.state = 'pending')`)
	for _, k := range waiting {
		if err := s.holdDeliveries(ctx, k.partner, k.endpoint); err != nil {
			return err
		}
	}
	return classifyError(err)
}

// sweepOldEvents removes events up to limit, and what hangs on them, partner by partner. How many go at once depends on how many
// endpoints each has deliveries for.
func (s Alerts) sweepOldEvents(ctx context.Context, limit int64) (total int64, err error) {
	partners, err := collectRows(ctx, s.readQuerier(), func(row scanner) (id partner.ID, err error) { return id, row.Scan(scanPartnerID(&id)) },
		`SELECT partner_id FROM event_counter ORDER BY partner_id`)
	if err != nil {
		return 0, err
	}
	for _, id := range partners {
		if err := s.sweepDeletedEndpoints(ctx, id); err != nil {
			return total, err
		}
		for {
			old, err := collectRows(ctx, s.readQuerier(), scanInteger, `SELECT seq FROM event WHERE partner_id = $1 AND created_at <= $2 ORDER BY created_at LIMIT $3`,
				partnerNumber(id), limit, int64(sweepBatch))
			if err != nil {
				return total, err
			}
			if len(old) == 0 {
				break
			}
			endpoints, err := deliveredTo(ctx, s.readQuerier(), id)
			if err != nil {
				return total, err
			}
			done, err := s.sweepEvents(ctx, id, old, endpoints)
			if total += done; err != nil {
				return total, err
			}
		}
	}
	return total, nil
}

// sweepDeletedEndpoints removes what is left of a partner's deleted endpoints.
func (s Alerts) sweepDeletedEndpoints(ctx context.Context, id partner.ID) error {
	endpoints, err := deliveredTo(ctx, s.readQuerier(), id)
	if err != nil {
		return err
	}
	for _, endpoint := range endpoints {
		var there bool
		err := s.readQuerier().QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM endpoint WHERE partner_id = $1 AND id = $2)`,
			partnerNumber(id), string(endpoint)).Scan(&there)
		if err == nil && !there {
			err = s.deleteDeliveries(ctx, id, endpoint)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rowsOfDelivery is how many rows a delivery with its tries may come to.
const rowsOfDelivery = 1 + webhook.MaxAttempts

// sweepEvents removes events of one partner with their deliveries and tries.
func (s Alerts) sweepEvents(ctx context.Context, id partner.ID, old []int64, endpoints []alert.EndpointID) (int64, error) {
	largest := max(1, sweepBatch/(1+rowsOfDelivery*len(endpoints)))
	return inParts(ctx, s.core, old, largest, func(tx *sqldb.Tx, part []int64) error {
		var list []sqldb.Statement
		for _, seq := range part {
			for _, endpoint := range endpoints {
				args := []any{partnerNumber(id), string(endpoint), seq}
				list = append(list,
					sqldb.Statement{Query: `DELETE FROM attempt WHERE partner_id = $1 AND endpoint_id = $2 AND seq = $3`, Args: args},
					sqldb.Statement{Query: `DELETE FROM delivery WHERE partner_id = $1 AND endpoint_id = $2 AND seq = $3`, Args: args})
			}
			list = append(list, sqldb.Statement{Query: `DELETE FROM event WHERE partner_id = $1 AND seq = $2`, Args: []any{partnerNumber(id), seq}})
		}
		return tx.RunStatements(ctx, list)
	})
}

// deliveredTo returns the endpoints that a partner has deliveries for, deleted ones included. Each is one step in the
// key: to read all deliveries for it would take as long as there are many.
func deliveredTo(ctx context.Context, q querier, id partner.ID) (list []alert.EndpointID, err error) {
	for last := ""; ; {
		var next sql.NullString
		err := q.QueryRowContext(ctx, `SELECT min(endpoint_id) FROM delivery WHERE partner_id = $1 AND endpoint_id > $2`, partnerNumber(id), last).Scan(&next)
		if err != nil || !next.Valid {
			return list, err
		}
		last = next.String
		list = append(list, alert.EndpointID(last))
	}
}

// inParts does something with all of a list in transactions of a few of them each, never more than largest.
func inParts[T any](ctx context.Context, c core, all []T, largest int, fn func(tx *sqldb.Tx, part []T) error) (int64, error) {
	done, err := c.runBatches(ctx, int64(largest), func(tx *sqldb.Tx, done, limit int64) (int64, error) {
		part := all[done:min(int64(len(all)), done+limit)]
		if len(part) == 0 {
			return 0, nil
		}
		return int64(len(part)), fn(tx, part)
	})
	return done, classifyError(err)
}
