package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

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
	waiting, err := collectRows(
		ctx,
		s.readQuerier(),
		func(row scanner, k *endpointKey) error { return row.Scan(&k.partner, &k.endpoint) },
		`SELECT e.partner_id, e.id FROM endpoint e WHERE e.state = 'disabled' AND EXISTS (
		SELECT 1 FROM delivery d WHERE d.partner_id = e.partner_id AND d.endpoint_id = e.id AND d.state = 'pending')`,
	)
	if err != nil {
		return err
	}
	for _, k := range waiting {
		if err := s.holdDeliveries(ctx, k.partner, k.endpoint); err != nil {
			return err
		}
	}
	return nil
}

// sweepOldEvents removes events up to limit, and what hangs on them, partner by partner. How many go at once depends on
// how many endpoints each has deliveries for.
func (s Alerts) sweepOldEvents(ctx context.Context, limit int64) (total int64, err error) {
	partners, err := collectValues[partner.ID](
		ctx,
		s.readQuerier(),
		`SELECT partner_id FROM event_counter ORDER BY partner_id`,
	)
	if err != nil {
		return 0, err
	}
	for _, id := range partners {
		if err := s.sweepDeletedEndpoints(ctx, id); err != nil {
			return total, err
		}
		for {
			old, err := collectValues[int64](
				ctx,
				s.readQuerier(),
				`SELECT seq FROM event WHERE partner_id = $1 AND created_at <= $2 ORDER BY created_at LIMIT $3`,
				id,
				limit,
				sweepBatch,
			)
			if err != nil {
				return total, err
			}
			if len(old) == 0 {
				break
			}
			done, err := s.sweepEvents(ctx, id, old)
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
		there, err := readValue[bool](
			ctx,
			s.readQuerier(),
			`SELECT EXISTS (SELECT 1 FROM endpoint WHERE partner_id = $1 AND id = $2)`,
			id,
			endpoint,
		)
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

// sweepEvents removes events of one partner with their deliveries and tries. A transaction that makes deliveries of old
// events again holds the partner's counter of events, so it is waited for.
func (s Alerts) sweepEvents(ctx context.Context, id partner.ID, old []int64) (int64, error) {
	endpoints, err := deliveredTo(ctx, s.readQuerier(), id)
	if err != nil {
		return 0, err
	}
	largest := max(1, sweepBatch/(1+rowsOfDelivery*len(endpoints)))
	return runInParts(ctx, s.core, old, largest, func(tx *sqldb.Tx, part []int64) error {
		if err := s.lockEvents(ctx, tx, id); err != nil {
			return err
		}
		endpoints, err := deliveredTo(ctx, tx, id)
		if err != nil {
			return err
		}
		var list sqldb.Statements
		for _, seq := range part {
			for _, endpoint := range endpoints {
				list = append(list, deleteDelivery(id, endpoint, seq)...)
			}
			list.Add(`DELETE FROM event WHERE partner_id = $1 AND seq = $2`, id, seq)
		}
		return tx.RunStatements(ctx, list)
	})
}

// deleteDelivery returns the statements that delete a delivery and its tries. The delivery goes first: a worker that
// stores a try has locked it, so when it is gone all tries are there to be deleted.
func deleteDelivery(id partner.ID, endpoint alert.EndpointID, seq int64) sqldb.Statements {
	return sqldb.Statements{
		sqldb.NewStatement(
			`DELETE FROM delivery WHERE partner_id = $1 AND endpoint_id = $2 AND seq = $3`,
			id,
			endpoint,
			seq,
		),
		sqldb.NewStatement(
			`DELETE FROM attempt WHERE partner_id = $1 AND endpoint_id = $2 AND seq = $3`,
			id,
			endpoint,
			seq,
		),
	}
}

// deliveredTo returns the endpoints that a partner has deliveries for, deleted ones included. Each is one step in the
// key: to read all deliveries for it would take as long as there are many.
func deliveredTo(ctx context.Context, q querier, id partner.ID) (list []alert.EndpointID, err error) {
	for last := ""; ; {
		next, err := readValue[sql.NullString](
			ctx,
			q,
			`SELECT min(endpoint_id) FROM delivery WHERE partner_id = $1 AND endpoint_id > $2`,
			id,
			last,
		)
		if err != nil || !next.Valid {
			return list, err
		}
		last = next.String
		list = append(list, alert.EndpointID(last))
	}
}

// attemptKey is the primary key of a try.
const attemptKey = "partner_id, endpoint_id, seq, at, worker"

// sweepAttempts removes the tries of finished deliveries: those with a row of their own, and those in the delivery's.
func (s Upkeep) sweepAttempts(ctx context.Context, before int64) (int64, error) {
	total, err := s.sweepFound(ctx, found{
		table: "attempt",
		key:   attemptKey,
		first: []any{0, "", 0, 0, ""},
		args:  []any{before},
		where: ` AND at <= $6 AND EXISTS (SELECT 1 FROM delivery d
			WHERE d.partner_id = attempt.partner_id AND d.endpoint_id = attempt.endpoint_id
			AND d.seq = attempt.seq AND d.state IN ('delivered', 'failed'))`,
	})
	if err != nil {
		return total, err
	}
	folded, err := s.sweepFound(ctx, found{
		table: "delivery",
		key:   "partner_id, endpoint_id, seq",
		set:   "tried = NULL",
		first: []any{0, "", 0},
		args:  []any{before},
		where: ` AND tried IS NOT NULL AND state IN ('delivered', 'failed') AND finished_at > 0 AND finished_at <= $4`,
	})
	return total + folded, err
}

// sweepEventGaps forgets gaps before the oldest event.
func (s Upkeep) sweepEventGaps(ctx context.Context) error {
	_, err := s.sweepFound(ctx, found{
		table: "event_gap", key: "partner_id, seq", first: []any{0, 0},
		where: ` AND seq < (SELECT min(e.seq) FROM event e WHERE e.partner_id = event_gap.partner_id)`,
	})
	return err
}
