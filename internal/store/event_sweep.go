package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
)

// sweepBatch is how many rows a sweep removes in one transaction.
const sweepBatch = 1000

func affected(res sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// inBatches repeats a transaction until it changes nothing, and lets waiting writers in between.
func (s Alerts) inBatches(ctx context.Context, step func(tx *sqldb.Tx) (int64, error)) (int64, error) {
	var total int64
	for {
		var n int64
		err := s.inTx(ctx, func(tx *sqldb.Tx) (err error) {
			n, err = step(tx)
			return err
		})
		total += n
		if err != nil || n == 0 {
			return total, err
		}
		select {
		case <-ctx.Done():
			return total, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// SweepEvents removes events older than keep with their deliveries and attempts, delivered or not, and what is left of
// deleted endpoints. It returns how many events it removed.
func (s Alerts) SweepEvents(ctx context.Context, keep time.Duration) (int64, error) {
	limit := micros(s.now().Add(-keep))
	total, err := s.inBatches(ctx, func(tx *sqldb.Tx) (int64, error) { return sweepEvents(ctx, tx, limit) })
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

// sweepEvents removes the oldest events up to limit, and what hangs on them.
func sweepEvents(ctx context.Context, tx *sqldb.Tx, limit int64) (int64, error) {
	type end struct {
		partner partner.ID
		seq     int64
	}
	ends, err := collect(ctx, tx, func(row scanner) (e end, err error) {
		err = row.Scan(numbered(&e.partner), &e.seq)
		return e, err
	}, `SELECT partner_id, max(seq) FROM (
		SELECT partner_id, seq FROM event WHERE created_at <= $1 ORDER BY created_at LIMIT $2) AS old GROUP BY partner_id`,
		limit, int64(sweepBatch))
	if err != nil {
		return 0, err
	}
	var total int64
	for _, e := range ends {
		n, err := affected(tx.ExecContext(ctx, `DELETE FROM event WHERE partner_id = $1 AND seq <= $2 AND created_at <= $3`,
			number(e.partner), e.seq, limit))
		if err != nil {
			return 0, err
		}
		total += n
		// Per endpoint, because that is how their keys begin. An event that a turned-back clock made look younger keeps
		// its own.
		endpoints, err := collect(ctx, tx, func(row scanner) (id alert.EndpointID, err error) {
			err = row.Scan(&id)
			return id, err
		}, `SELECT id FROM endpoint WHERE partner_id = $1`, number(e.partner))
		if err != nil {
			return 0, err
		}
		for _, endpoint := range endpoints {
			for _, table := range []string{"attempt", "delivery"} {
				_, err := tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE partner_id = $1 AND endpoint_id = $2 AND seq <= $3 AND NOT EXISTS (
					SELECT 1 FROM event e WHERE e.partner_id = $1 AND e.seq = `+table+`.seq)`, number(e.partner), string(endpoint), e.seq)
				if err != nil {
					return 0, err
				}
			}
		}
	}
	return total, nil
}
