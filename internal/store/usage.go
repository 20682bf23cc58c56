package store

import (
	"context"
	"fmt"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
)

var _ partner.MeterStore = Partners{}

// AddRequests counts what a partner asked for: see partner.MeterStore.
func (s Partners) AddRequests(ctx context.Context, id partner.ID, counts []partner.Requests, forget int64) error {
	return s.inTx(ctx, func(tx *sqldb.Tx) error {
		for _, c := range counts {
			_, err := tx.ExecContext(ctx, `INSERT INTO request_count (partner_id, day, operation, sent, refused) VALUES ($1, $2, $3, $4, $5)
				ON CONFLICT (partner_id, day, operation) DO UPDATE SET sent = request_count.sent + excluded.sent, refused = request_count.refused + excluded.refused`,
				number(id), c.Day, c.Operation, c.Sent, c.Refused)
			if err != nil {
				return fmt.Errorf("count requests: %w", err)
			}
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM request_count WHERE partner_id = $1 AND day < $2`, number(id), forget); err != nil {
			return fmt.Errorf("forget requests: %w", err)
		}
		return nil
	})
}

// RequestsOf returns what a partner asked for: see partner.MeterStore.
func (s Partners) RequestsOf(ctx context.Context, id partner.ID, since int64) ([]partner.Requests, error) {
	return collect(ctx, s.reader(), func(row scanner) (r partner.Requests, err error) {
		err = row.Scan(&r.Day, &r.Operation, &r.Sent, &r.Refused)
		return r, err
	}, `SELECT day, operation, sent, refused FROM request_count WHERE partner_id = $1 AND day >= $2 ORDER BY day DESC, operation`, number(id), since)
}
