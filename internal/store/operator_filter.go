package store

import (
	"context"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// filterPlace binds a filter to its owner: it may name a person.
func filterPlace(owner, id string) seal.Place {
	return seal.Place{Table: "operator_filter", Column: "content", Row: owner + "/" + id}
}

// filterContent is what is sealed of a filter.
type filterContent struct{ Name, Query string }

// KeepFilter stores a filter; it refuses an operator who has too many.
func (s Operators) KeepFilter(ctx context.Context, f operator.KeptFilter) error {
	text, err := s.sealValue(filterPlace(string(f.Operator), f.ID), filterContent{f.Name, f.Query})
	if err != nil {
		return err
	}
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		n, err := readValue[int](ctx, tx, `SELECT count(*) FROM operator_filter WHERE operator_id = $1`, f.Operator)
		if err != nil {
			return err
		}
		if n >= operator.MaxFilters {
			return operator.ErrFilter.With("name", fault.FiltersAtMost, operator.MaxFilters)
		}
		return execStatement(
			ctx,
			tx,
			`INSERT INTO operator_filter (operator_id, id, list, content, created_at) VALUES ($1, $2, $3, $4, $5)`,
			f.Operator,
			f.ID,
			f.List,
			text,
			s.now(),
		)
	})
}

// KeptFilters returns an operator's, oldest first.
func (s Operators) KeptFilters(ctx context.Context, owner operator.ID) ([]operator.KeptFilter, error) {
	return collectRows(ctx, s.readQuerier(), func(row scanner, f *operator.KeptFilter) error {
		var content filterContent
		err := row.Scan(
			&f.ID,
			&f.List,
			s.unseals(&content, func() seal.Place { return filterPlace(string(owner), f.ID) }),
			&f.CreatedAt,
		)
		f.Operator, f.Name, f.Query = owner, content.Name, content.Query
		return err
	}, `SELECT id, list, content, created_at FROM operator_filter WHERE operator_id = $1 ORDER BY created_at, id`,
		owner,
	)
}

func (s Operators) DropFilter(ctx context.Context, owner operator.ID, id string) error {
	return s.expectAlone(
		ctx,
		operator.ErrNoFilter,
		`DELETE FROM operator_filter WHERE operator_id = $1 AND id = $2`,
		owner,
		id,
	)
}
