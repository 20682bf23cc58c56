package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// chunkRows is how many rows go to PostgreSQL as arguments of one statement.
const chunkRows = 500

// InsertRows inserts rows into table: many with each statement on PostgreSQL, a prepared statement in a loop on SQLite
// (where one statement with many rows is slower). next returns the values of the next row, or nil after the last one;
// the slice may be reused between calls, and only bytes and sql.NullInt64 may be NULL. Table and columns are names from
// this program, never from a caller.
func (t *Tx) InsertRows(ctx context.Context, table string, columns []string, next func() ([]any, error)) error {
	_, err := t.loadRows(ctx, table, columns, "", "", next)
	return err
}

// InsertOrUpdate is InsertRows for rows that may exist already: conflict says, in the words of ON CONFLICT, which
// constraint they meet and what is then changed. No two rows of one call may meet each other.
func (t *Tx) InsertOrUpdate(
	ctx context.Context, table string, columns []string, conflict string, next func() ([]any, error),
) error {
	_, err := t.loadRows(ctx, table, columns, " ON CONFLICT "+conflict, "", next)
	return err
}

// LoadMissing is InsertRows for rows that may exist already: a row that meets a unique constraint is left out and the
// rest is inserted, even if another transaction is inserting the same rows at that moment. key names a BIGINT column
// among columns; its values in the rows that were new are returned in ascending order. With an empty key nothing is
// returned.
func (t *Tx) LoadMissing(
	ctx context.Context, table string, columns []string, key string, next func() ([]any, error),
) ([]int64, error) {
	return t.loadRows(ctx, table, columns, " ON CONFLICT DO NOTHING", key, next)
}

// loadRows is InsertRows with what is done on a conflict, and LoadMissing.
func (t *Tx) loadRows(
	ctx context.Context, table string, columns []string, conflict, key string, next func() ([]any, error),
) (added []int64, err error) {
	insert := "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") "
	if t.engine == PostgreSQL {
		err = t.insertChunks(ctx, insert, len(columns), conflict, key, next, &added)
	} else {
		added, err = t.insertEach(
			ctx,
			insert+"VALUES ("+numberedMarks(len(columns))+")"+conflict,
			slices.Index(columns, key),
			next,
		)
	}
	slices.Sort(added)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", table, err)
	}
	return added, nil
}

// insertChunks inserts rows, many with each statement, and appends the values of key in those that were new.
//
// COPY would be a fifth faster, and is not used: while the server waits for more rows of one it obeys neither
// statement_timeout nor idle_in_transaction_session_timeout, so a process that hangs in the middle would keep what its
// transaction has locked for as long as it hangs.
func (t *Tx) insertChunks(
	ctx context.Context, insert string, columns int, conflict, key string, next func() ([]any, error), added *[]int64,
) error {
	for {
		rows, err := readChunk(next)
		if err != nil || len(rows) == 0 {
			return err
		}
		values, args := "VALUES ("+numberedMarks(columns)+")", rows[0] // Citus sends one row straight to its node
		if len(rows) > 1 {
			values, args = columnArrays(rows)
		}
		if key == "" {
			_, err = t.ExecContext(ctx, insert+values+conflict, args...)
		} else {
			err = t.insertReturning(ctx, insert+values+conflict+" RETURNING "+key, args, added)
		}
		if err != nil || len(rows) < chunkRows { // next has said that there are no more
			return err
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
		rows = append(rows, convertArguments(slices.Clone(row)))
	}
	return rows, nil
}

// numberedMarks returns n numbered placeholders, separated by commas.
func numberedMarks(n int) string {
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
		case sql.NullInt64:
			types, args = types+"::bigint[]", append(args, columnArray[sql.NullInt64](rows, i))
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
		values[i], _ = row[column].(T) // NULL stays the zero value: that of bytes is NULL
	}
	return values
}

// insertReturning runs an INSERT and appends the numbers that it returns.
func (t *Tx) insertReturning(ctx context.Context, insert string, args []any, added *[]int64) error {
	return EachRow(ctx, t, func(row Row) error {
		*added = append(*added, 0)
		return row.Scan(&(*added)[len(*added)-1])
	}, insert, args...)
}

// insertEach inserts row by row. It is for SQLite, where a statement costs no round trip.
func (t *Tx) insertEach(
	ctx context.Context, insert string, key int, next func() ([]any, error),
) (added []int64, err error) {
	stmt, err := t.PrepareContext(ctx, insert)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stmt.Close()) }()
	for {
		row, err := next()
		if err != nil || row == nil {
			return added, err
		}
		t.noteMarks(convertArguments(row))
		res, err := stmt.ExecContext(ctx, row...)
		if err != nil {
			return nil, err
		}
		if key < 0 {
			continue
		}
		n, err := res.RowsAffected()
		if err != nil {
			return nil, err
		}
		if v, ok := row[key].(int64); ok && n == 1 {
			added = append(added, v)
		}
	}
}
