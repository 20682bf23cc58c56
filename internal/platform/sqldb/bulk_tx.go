package sqldb

import (
	"context"
	"fmt"
)

// InBulkTx is InTransaction for work that writes many rows: on SQLite the single writes that wait go before the next
// bulk, and PostgreSQL plans each statement anew. Bulks are what fills a table: a plan that was kept from when it was
// empty reads all of it each time, until the server has counted the rows again.
func (d *DB) InBulkTx(ctx context.Context, fn func(tx *Tx) error) error {
	if d.engine != SQLite {
		return d.InTransaction(ctx, func(tx *Tx) error {
			if _, err := tx.ExecContext(ctx, `SET LOCAL plan_cache_mode = force_custom_plan`); err != nil {
				return fmt.Errorf("plan anew: %w", err)
			}
			return fn(tx)
		})
	}
	return d.retryTransaction(ctx, func() error { return d.runShared(ctx, true, fn) })
}
