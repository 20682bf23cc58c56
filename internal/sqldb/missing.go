package sqldb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// fewRows is how many rows go to PostgreSQL as arguments of one statement instead of by way of a temporary table: that
// costs a trip to make it, two for the copy, and a truncated file at the end of the transaction.
const fewRows = 1000

// LoadMissing is Load for rows that may be there already: one that meets a unique constraint is left out and the rest
// go in, whoever else is inserting the same ones at that moment. key names a BIGINT column among columns; its values in
// the rows that were new come back in ascending order. An empty key returns nothing.
//
// On PostgreSQL many rows are copied to a temporary table first, since COPY itself cannot leave any out. Looking for the
// rows that exist and copying the rest would save that, but the planner's statistics are old after a bulk load, and
// then it answers such a look-up by walking the whole table; a conflict always goes through its index.
func (t *Tx) LoadMissing(ctx context.Context, table string, columns []string, key string, next func() ([]any, error)) ([]int64, error) {
	if t.engine != PostgreSQL {
		return t.insertMissing(ctx, table, columns, slices.Index(columns, key), next)
	}
	first, err := firstRows(next)
	if err != nil {
		return nil, err
	}
	names := strings.Join(columns, ", ")
	if len(first) < fewRows {
		if len(first) == 0 {
			return nil, nil
		}
		types, args := columnArrays(first)
		return t.insertReturning(ctx, table, `INSERT INTO `+table+` (`+names+`) SELECT * FROM unnest(`+types+`) ON CONFLICT DO NOTHING`, key, args...)
	}
	stage, read := "load_"+table, 0
	// Made once per connection, emptied at each end of a transaction. It has these columns and no other: LIKE would
	// also copy the NOT NULL of a column that a newer release has added, and leave its default behind.
	_, err = t.ExecContext(ctx, `CREATE TEMPORARY TABLE IF NOT EXISTS `+stage+` ON COMMIT DELETE ROWS AS SELECT `+names+` FROM `+table+` WITH NO DATA`)
	if err == nil && t.staged[stage] {
		_, err = t.ExecContext(ctx, `TRUNCATE pg_temp.`+stage) // what an earlier load of the same transaction left
	}
	if err != nil {
		return nil, fmt.Errorf("prepare load of %s: %w", table, err)
	}
	if t.staged == nil {
		t.staged = map[string]bool{}
	}
	t.staged[stage] = true
	_, err = t.copyFrom(ctx, stage, columns, func() ([]any, error) {
		if read++; read <= len(first) {
			return first[read-1], nil
		}
		return next()
	})
	if err != nil {
		return nil, err
	}
	return t.insertReturning(ctx, table, `INSERT INTO `+table+` (`+names+`) SELECT `+names+` FROM pg_temp.`+stage+` ON CONFLICT DO NOTHING`, key)
}

// firstRows reads up to fewRows rows, each with values of its own.
func firstRows(next func() ([]any, error)) (rows [][]any, err error) {
	for len(rows) < fewRows {
		row, err := next()
		if err != nil || row == nil {
			return rows, err
		}
		rows = append(rows, slices.Clone(row))
	}
	return rows, nil
}

// columnArrays turns rows into one array for each column, and names their types.
func columnArrays(rows [][]any) (types string, args []any) {
	for i, v := range rows[0] {
		if i > 0 {
			types += ", "
		}
		types += "$" + strconv.Itoa(i+1)
		switch v.(type) {
		case int64:
			types, args = types+"::bigint[]", append(args, columnArray[int64](rows, i))
		case string:
			types, args = types+"::text[]", append(args, columnArray[string](rows, i))
		case bool:
			types, args = types+"::boolean[]", append(args, columnArray[bool](rows, i))
		default:
			types, args = types+"::bytea[]", append(args, columnArray[[]byte](rows, i))
		}
	}
	return types, args
}

func columnArray[T any](rows [][]any, column int) []T {
	values := make([]T, len(rows))
	for i, row := range rows {
		values[i], _ = row[column].(T) // NULL stays the zero value: only of bytes, whose zero value is NULL
	}
	return values
}

// insertReturning runs an INSERT and returns the values of key in its rows, in ascending order; nothing without a key.
func (t *Tx) insertReturning(ctx context.Context, table, insert, key string, args ...any) ([]int64, error) {
	if key == "" {
		if _, err := t.ExecContext(ctx, insert, args...); err != nil {
			return nil, fmt.Errorf("load %s: %w", table, err)
		}
		return nil, nil
	}
	rows, err := t.QueryContext(ctx, insert+` RETURNING `+key, args...)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", table, err)
	}
	defer func() { _ = rows.Close() }() // Err below reports what matters
	var added []int64
	for rows.Next() {
		var v int64
		if err := rows.Scan(&v); err != nil {
			return nil, fmt.Errorf("load %s: %w", table, err)
		}
		added = append(added, v)
	}
	slices.Sort(added)
	return added, rows.Err()
}

func (t *Tx) insertMissing(ctx context.Context, table string, columns []string, key int, next func() ([]any, error)) (added []int64, err error) {
	marks := make([]string, len(columns))
	for i := range marks {
		marks[i] = "$" + strconv.Itoa(i+1)
	}
	stmt, err := t.PrepareContext(ctx, "INSERT INTO "+table+" ("+strings.Join(columns, ", ")+") VALUES ("+strings.Join(marks, ", ")+
		") ON CONFLICT DO NOTHING")
	if err != nil {
		return nil, fmt.Errorf("prepare load of %s: %w", table, err)
	}
	defer func() { err = errors.Join(err, stmt.Close()) }()
	for {
		row, err := next()
		if err != nil || row == nil {
			slices.Sort(added)
			return added, err
		}
		res, err := stmt.ExecContext(ctx, row...)
		if err != nil {
			return nil, fmt.Errorf("load %s: %w", table, err)
		}
		if key < 0 {
			continue
		}
		n, err := res.RowsAffected()
		if err != nil {
			return nil, fmt.Errorf("load %s: %w", table, err)
		}
		if v, ok := row[key].(int64); ok && n == 1 {
			added = append(added, v)
		}
	}
}
