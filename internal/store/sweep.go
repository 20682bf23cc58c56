package store

import (
	"context"
	"slices"

	"github.com/vigiahq/vigia/internal/sqldb"
)

// found is a search for rows to change that no index leads to.
type found struct {
	// first comes before every key: a value of the kind of each of its columns.
	first []any
	// find selects keys behind that of $1 and the following, in their order. args follow, and then how many at most.
	find string
	// change changes the row of one key, followed by args and written, if it is still as it was found.
	change        string
	args, written []any
	// lock, if there is one, comes first in each transaction.
	lock   string
	locked []any
}

// sweepFound searches a page at a time outside of transactions, so that it blocks no writer, and changes what it found
// in transactions of a few rows. It returns how many rows it changed.
func (c core) sweepFound(ctx context.Context, f found) (total int64, err error) {
	for after := f.first; ; {
		keys, err := collectRows(ctx, c.readQuerier(), func(row scanner) ([]any, error) {
			key := make([]any, len(f.first))
			into := make([]any, len(key))
			for i := range key {
				into[i] = &key[i]
			}
			return key, row.Scan(into...)
		}, f.find, slices.Concat(after, f.args, []any{int64(sweepBatch)})...)
		if err != nil || len(keys) == 0 {
			return total, err
		}
		_, err = inParts(ctx, c, keys, sweepBatch, func(tx *sqldb.Tx, part [][]any) error {
			if f.lock != "" {
				if _, err := tx.ExecContext(ctx, f.lock, f.locked...); err != nil {
					return err
				}
			}
			list := make([]sqldb.Statement, len(part))
			for i, key := range part {
				list[i] = sqldb.Statement{Query: f.change, Args: slices.Concat(key, f.args, f.written)}
			}
			changed, err := tx.RunCounting(ctx, list)
			tx.AfterCommit(func() {
				for _, n := range changed {
					total += n
				}
			})
			return err
		})
		if err != nil || len(keys) < sweepBatch {
			return total, err
		}
		after = keys[len(keys)-1]
	}
}
