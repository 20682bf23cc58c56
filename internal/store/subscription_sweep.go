package store

import (
	"context"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// endedSubscription is one that is past its time, and whose it is.
type endedSubscription struct {
	seq int64
	cpf []byte
}

// sweepSubscriptions removes ended subscriptions, and people who have nothing else. An end is final: none of them can
// have come back since it was read.
func (s Upkeep) sweepSubscriptions(ctx context.Context, before int64) (total int64, err error) {
	for {
		ended, err := collectRows(ctx, s.readQuerier(), func(row scanner, o *ownedID[endedSubscription]) error {
			return row.Scan(&o.partner, &o.id.seq, &o.id.cpf)
		}, `SELECT partner_id, seq, cpf FROM subscription WHERE ended_at <> 0 AND ended_at <= $1
			ORDER BY ended_at LIMIT $2`,
			before,
			sweepBatch,
		)
		if err != nil || len(ended) == 0 {
			return total, err
		}
		for id, own := range groupByPartner(ended) {
			n, err := runInParts(ctx, s.core, own, sweepBatch, func(tx *sqldb.Tx, part []endedSubscription) error {
				if _, err := lockSubscriptions(ctx, tx, id); err != nil { // first, as everybody takes it
					return err
				}
				deletes := make(sqldb.Statements, len(part))
				cpfs := make([][]byte, len(part))
				for i, e := range part {
					deletes[i] = sqldb.NewStatement(
						`DELETE FROM subscription WHERE partner_id = $1 AND seq = $2`,
						id,
						e.seq,
					)
					cpfs[i] = e.cpf
				}
				if err := tx.RunStatements(ctx, deletes); err != nil {
					return err
				}
				return s.deleteLonelyPeople(ctx, tx, id, cpfs)
			})
			total += n
			if err != nil {
				return total, err
			}
		}
	}
}
