package store

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// sweepCases removes closed cases with their moves and bookings. One that a transaction is changing is left to the next
// sweep: it may be taken up again.
func (s Upkeep) sweepCases(ctx context.Context, before int64) (total int64, err error) {
	for {
		found, err := collectOwned[cyber.CaseID](ctx, s.readQuerier(), `SELECT partner_id, id FROM support_case
			WHERE status IN (`+closedStatuses+`) AND changed_at <= $1 LIMIT $2`,
			before,
			sweepBatch,
		)
		if err != nil {
			return total, err
		}
		removed := int64(0)
		for id, own := range groupByPartner(found) {
			_, err := runInParts(ctx, s.core, own, sweepBatch, func(tx *sqldb.Tx, part []cyber.CaseID) error {
				args := []any{id, before}
				locked, err := collectValues[cyber.CaseID](ctx, tx, `SELECT id FROM support_case
					WHERE partner_id = $1 AND changed_at <= $2
					AND status IN (`+closedStatuses+`) AND id `+inList(tx.EngineName(), &args, part)+`
					ORDER BY id`+s.db.SkipLocked(),
					args...,
				)
				if err != nil {
					return err
				}
				var list sqldb.Statements
				for _, c := range locked {
					list.Add(`DELETE FROM case_booking WHERE partner_id = $1 AND case_id = $2`, id, c)
					list.Add(`DELETE FROM case_move WHERE partner_id = $1 AND case_id = $2`, id, c)
					list.Add(`DELETE FROM support_case WHERE partner_id = $1 AND id = $2`, id, c)
				}
				tx.AfterCommit(func() { removed += int64(len(locked)) })
				return tx.RunStatements(ctx, list)
			})
			if err != nil {
				return total + removed, err
			}
		}
		if total += removed; removed == 0 {
			return total, nil
		}
	}
}
