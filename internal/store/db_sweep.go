package store

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// found is a search for rows to change that no index leads to.
type found struct {
	table string
	// key are columns that name a row, in the order in which rows are searched.
	key string
	// first comes before every key: a value of the kind of each of its columns.
	first []any
	// where are conditions of the rows, each after AND; its args are numbered behind those of the key.
	where string
	args  []any
	// set is what is changed of a row; without it rows are deleted.
	set string
}

// scanKey reads n columns of any kind into key, and those behind them into more.
func scanKey(row scanner, key *[]any, n int, more ...any) error {
	*key = make([]any, n)
	into := make([]any, n, n+len(more))
	for i := range *key {
		into[i] = &(*key)[i]
	}
	return row.Scan(append(into, more...)...)
}

// sweepFound searches a page at a time outside of transactions, so that it blocks no writer, and changes what it found
// in transactions of a few rows. It returns how many rows it changed.
func (c core) sweepFound(ctx context.Context, f found) (total int64, err error) {
	var past, same conditions
	past.addPastCondition(f.key, `>`, f.first...)
	for i, column := range strings.Split(f.key, ", ") {
		same.addCondition(column+` = `, f.first[i])
	}
	limit := len(f.first) + len(f.args) + 1
	find := `SELECT ` + f.key + ` FROM ` + f.table + ` WHERE true` + past.text + f.where +
		` ORDER BY ` + f.key + ` LIMIT $` + strconv.Itoa(limit)
	change := `DELETE FROM ` + f.table + ` WHERE true` + same.text + f.where
	if f.set != "" {
		// Only if the row is still as it was found.
		change = `UPDATE ` + f.table + ` SET ` + f.set + ` WHERE true` + same.text + f.where
	}
	for after := f.first; ; {
		keys, err := collectRows(
			ctx,
			c.readQuerier(),
			func(row scanner, key *[]any) error { return scanKey(row, key, len(f.first)) },
			find,
			slices.Concat(after, f.args, []any{sweepBatch})...,
		)
		if err != nil || len(keys) == 0 {
			return total, err
		}
		_, err = runInParts(ctx, c, keys, sweepBatch, func(tx *sqldb.Tx, part [][]any) error {
			changes := make(sqldb.Statements, len(part))
			for i, key := range part {
				changes[i] = sqldb.NewStatement(change, slices.Concat(key, f.args)...)
			}
			changed, err := tx.RunCounting(ctx, changes)
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

// sweepBatch is how many rows a sweep removes in one transaction at most.
const sweepBatch = 500
