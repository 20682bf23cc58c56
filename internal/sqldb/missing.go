package sqldb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// chunkRows is how many rows go to PostgreSQL as arguments of one statement.
const chunkRows = 500

// LoadMissing is Load for rows that may exist already: a row that meets a unique constraint is left out and the rest is
// inserted, even if another transaction is inserting the same rows at that moment. key names a BIGINT column among
// columns; its values in the rows that were new are returned in ascending order. With an empty key nothing is returned.
func (t *Tx) LoadMissing(ctx context.Context, table string, columns []string, key string, next func() ([]any, error)) ([]int64, error) {
	if t.engine != PostgreSQL {
		return t.insertMissing(ctx, table, columns, slices.Index(columns, key), next)
	}
	var added []int64
	_, err := t.insertChunks(table, columns, " ON CONFLICT DO NOTHING", next, func(insert string, args []any) error {
		if key == "" {
			_, err := t.ExecContext(ctx, insert, args...)
			return err
		}
		return t.insertReturning(ctx, insert+" RETURNING "+key, args, &added)
	})
	slices.Sort(added)
	return added, err
}

// insertChunks hands rows to insert, as a statement and its arguments, and returns how many there were.
//
// COPY would be a fifth faster, and is not used: while the server waits for more rows of one it obeys neither
// statement_timeout nor idle_in_transaction_session_timeout, so a process that hangs in the middle would keep what its
// transaction has locked for as long as it hangs.
func (t *Tx) insertChunks(table string, columns []string, conflict string, next func() ([]any, error), insert func(text string, args []any) error) (n int64, err error) {
	names := strings.Join(columns, ", ")
	for {
		rows, err := readChunk(next)
		if err != nil || len(rows) == 0 {
			return n, err
		}
		values, args := "VALUES ("+marks(len(columns))+")", rows[0] // Citus sends one row straight to its node
		if len(rows) > 1 {
			values, args = columnArrays(rows)
		}
		if err := insert("INSERT INTO "+table+" ("+names+") "+values+conflict, args); err != nil {
			return n, fmt.Errorf("load %s: %w", table, err)
		}
		n += int64(len(rows))
		if len(rows) < chunkRows { // next has said that there are no more
			return n, nil
		}
	}
}

// readChunk reads up to chunkRows rows, each with values of its own.
func readChunk(next func() ([]any, error)) (rows [][]any, err error) {
	for len(rows) < chunkRows {
		row, err := next()
		if err != nil || row == nil {
			return rows, err
		}
		rows = append(rows, slices.Clone(row))
	}
	return rows, nil
}

// marks returns n numbered placeholders, separated by commas.
func marks(n int) string {
	text := ""
	for i := range n {
		text += ", $" + strconv.Itoa(i+1)
	}
	return strings.TrimPrefix(text, ", ")
}

// columnArrays turns rows into one array for each column, and returns a SELECT of them.
func columnArrays(rows [][]any) (query string, args []any) {
	types := ""
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
	return "SELECT * FROM unnest(" + types + ")", args
}

// columnArray returns one column of the rows as an array argument for unnest.
func columnArray[T any](rows [][]any, column int) []T {
	values := make([]T, len(rows))
	for i, row := range rows {
		values[i], _ = row[column].(T) // NULL stays the zero value: only of bytes, whose zero value is NULL
	}
	return values
}

// insertReturning runs an INSERT and appends the numbers that it returns.
func (t *Tx) insertReturning(ctx context.Context, insert string, args []any, added *[]int64) error {
	rows, err := t.QueryContext(ctx, insert, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // Err below reports what matters
	for rows.Next() {
		var v int64
		if err := rows.Scan(&v); err != nil {
			return err
		}
		*added = append(*added, v)
	}
	return rows.Err()
}

// insertMissing inserts row by row. It is for SQLite, where a statement costs no round trip.
func (t *Tx) insertMissing(ctx context.Context, table string, columns []string, key int, next func() ([]any, error)) (added []int64, err error) {
	stmt, err := t.PrepareContext(ctx, "INSERT INTO "+table+" ("+strings.Join(columns, ", ")+") VALUES ("+marks(len(columns))+") ON CONFLICT DO NOTHING")
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
