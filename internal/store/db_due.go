package store

import (
	"context"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// ownedID names a row of a partner.
type ownedID[T any] struct {
	partner partner.ID
	id      T
}

// collectOwned runs a query for partners and IDs of theirs, in this order.
func collectOwned[T any](ctx context.Context, q querier, query string, args ...any) ([]ownedID[T], error) {
	return collectRows(
		ctx,
		q,
		func(row scanner, o *ownedID[T]) error { return row.Scan(&o.partner, &o.id) },
		query,
		args...,
	)
}

// groupByPartner groups IDs.
func groupByPartner[T any](list []ownedID[T]) map[partner.ID][]T {
	groups := map[partner.ID][]T{}
	for _, o := range list {
		groups[o.partner] = append(groups[o.partner], o.id)
	}
	return groups
}

// workOffDue has rows whose time has come decided about, a few of a partner's in one transaction, until there are no
// more. The query finds the first of them, up to now and noticeBatch. It returns how many were told of.
func workOffDue[T any](
	ctx context.Context,
	c core,
	decide func(tx *sqldb.Tx, id partner.ID, part []T) (locked, told int, err error),
	query string,
) (total int, err error) {
	for {
		due, err := collectOwned[T](ctx, c.readQuerier(), query, c.now(), noticeBatch)
		if err != nil {
			return total, err
		}
		decided := 0
		for id, own := range groupByPartner(due) {
			err := inEventParts(ctx, c, id, own, func(tx *sqldb.Tx, part []T) error {
				locked, told, err := decide(tx, id, part)
				tx.AfterCommit(func() { decided, total = decided+locked, total+told })
				return err
			})
			if err != nil {
				return total, err
			}
		}
		if len(due) < noticeBatch || decided == 0 { // none: another replica has them all
			return total, nil
		}
	}
}
