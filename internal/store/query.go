package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// querier is what a statement that reads needs: a transaction, or the pool that only reads.
type querier = sqldb.Querier

// scanner is a row that is read: times, durations and partners are scanned as they are, see sqldb.KeptRow.
type scanner = sqldb.Row

// classifyError names the failures that a later try may not meet; the rest stay as they are and count as internal.
func classifyError(err error) error {
	var f *fault.Error
	if err == nil || errors.As(err, &f) || !sqldb.IsUnavailable(err) {
		return err
	}
	return ErrUnavailable.Because(err)
}

// statementError says which statement failed. Texts are constants with numbered parameters, so no value is in it.
func statementError(query string, err error) error {
	var f *fault.Error
	if err == nil || errors.As(err, &f) {
		return err
	}
	return classifyError(fmt.Errorf("%.80s: %w", strings.Join(strings.Fields(query), " "), err))
}

// wrapError says what failed in front of an error. It returns nil where there is none, so that a function can end with
// it.
func wrapError(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// inList appends texts to args as one list and returns the condition that a column is one of them. For lists of any
// length; those of a handful of values are as well written by appendMarks.
func inList[T ~string](e sqldb.Engine, args *[]any, values []T) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return e.TextsCondition(args, texts)
}

// inIndexes is inList for indexes, which columns hold as bytes.
func (c core) inIndexes(args *[]any, indexes []string) string {
	return c.db.EngineName().BytesCondition(args, indexes)
}

// execStatement runs a statement that returns no rows.
func execStatement(ctx context.Context, tx *sqldb.Tx, query string, args ...any) error {
	_, err := tx.ExecContext(ctx, query, args...)
	return statementError(query, err)
}

// execCounting runs a statement and returns how many rows it changed.
func execCounting(ctx context.Context, tx *sqldb.Tx, query string, args ...any) (n int64, err error) {
	res, err := tx.ExecContext(ctx, query, args...)
	if err == nil {
		n, err = res.RowsAffected()
	}
	return n, statementError(query, err)
}

// execExpecting runs a statement that has to change a row: missing is returned when there was none to change.
func execExpecting(ctx context.Context, tx *sqldb.Tx, missing error, query string, args ...any) error {
	n, err := execCounting(ctx, tx, query, args...)
	if err == nil && n == 0 {
		return missing
	}
	return err
}

// execAlone runs a statement in a transaction of its own, or in the one that the area is open on.
func (c core) execAlone(ctx context.Context, query string, args ...any) error {
	return c.runInTransaction(ctx, func(tx *sqldb.Tx) error { return execStatement(ctx, tx, query, args...) })
}

// countAlone is execAlone, and returns how many rows were changed.
func (c core) countAlone(ctx context.Context, query string, args ...any) (int64, error) {
	return runReturning(ctx, c, func(tx *sqldb.Tx) (int64, error) { return execCounting(ctx, tx, query, args...) })
}

// runAll runs statements in a transaction of their own, or in the one that the area is open on.
func (c core) runAll(ctx context.Context, list ...sqldb.Statement) error {
	return c.runInTransaction(ctx, func(tx *sqldb.Tx) error { return tx.RunStatements(ctx, list) })
}

// expectAlone is execExpecting in a transaction of its own, or in the one that the area is open on.
func (c core) expectAlone(ctx context.Context, missing error, query string, args ...any) error {
	return c.runInTransaction(ctx, func(tx *sqldb.Tx) error { return execExpecting(ctx, tx, missing, query, args...) })
}

// runReturning is runInTransaction for what has a result.
func runReturning[T any](ctx context.Context, c core, fn func(tx *sqldb.Tx) (T, error)) (v T, err error) {
	err = c.runInTransaction(ctx, func(tx *sqldb.Tx) (err error) {
		v, err = fn(tx)
		return err
	})
	return v, err
}

// eachRow reads what a query finds, row by row.
func eachRow(ctx context.Context, q querier, read func(scanner) error, query string, args ...any) error {
	return statementError(query, sqldb.EachRow(ctx, q, read, query, args...))
}

// collectRows runs a query and scans every row.
func collectRows[T any](
	ctx context.Context,
	q querier,
	scan func(scanner, *T) error,
	query string,
	args ...any,
) ([]T, error) {
	list := []T{}
	err := eachRow(ctx, q, func(row scanner) error {
		var v T
		err := scan(row, &v)
		list = append(list, v)
		return err
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return list, nil
}

// collectPairs runs a query for two columns, the first of which differs in each row.
func collectPairs[K comparable, V any](ctx context.Context, q querier, query string, args ...any) (map[K]V, error) {
	pairs := map[K]V{}
	err := eachRow(ctx, q, func(row scanner) error {
		var k K
		var v V
		err := row.Scan(&k, &v)
		pairs[k] = v
		return err
	}, query, args...)
	return pairs, err
}

// collectValues runs a query for one column.
func collectValues[T any](ctx context.Context, q querier, query string, args ...any) ([]T, error) {
	return collectRows(ctx, q, func(row scanner, v *T) error { return row.Scan(v) }, query, args...)
}

// readRow runs a query for one row, and returns missing when there is none.
func readRow[T any](
	ctx context.Context,
	q querier,
	scan func(scanner, *T) error,
	missing error,
	query string,
	args ...any,
) (v T, err error) {
	err = scan(sqldb.KeptRow{Row: q.QueryRowContext(ctx, query, args...)}, &v)
	if errors.Is(err, sql.ErrNoRows) {
		return v, missing
	}
	return v, statementError(query, err)
}

// readValue runs a query for one value.
func readValue[T any](ctx context.Context, q querier, query string, args ...any) (v T, err error) {
	err = readColumns(ctx, q, []any{&v}, query, args...)
	return v, err
}

// findValue is readValue for what may be missing.
func findValue[T any](ctx context.Context, q querier, missing error, query string, args ...any) (T, error) {
	return readRow(ctx, q, func(row scanner, v *T) error { return row.Scan(v) }, missing, query, args...)
}

// readColumns runs a query for one row into dest; sql.ErrNoRows when there is none.
func readColumns(ctx context.Context, q querier, dest []any, query string, args ...any) error {
	return statementError(query, sqldb.KeptRow{Row: q.QueryRowContext(ctx, query, args...)}.Scan(dest...))
}

// rowsOf returns what feeds the rows of a list to a bulk insert.
func rowsOf[T any](list []T, row func(i int, v T) ([]any, error)) func() ([]any, error) {
	next := 0
	return func() ([]any, error) {
		if next == len(list) {
			return nil, nil
		}
		next++
		return row(next-1, list[next-1])
	}
}

// appendMarks appends values to args and returns their marks for an IN list: "$5, $6".
func appendMarks[T any](args *[]any, values []T) string {
	marks := make([]byte, 0, 6*len(values))
	for i, v := range values {
		*args = append(*args, v)
		if i > 0 {
			marks = append(marks, ", "...)
		}
		marks = strconv.AppendInt(append(marks, '$'), int64(len(*args)), 10)
	}
	return string(marks)
}

// sealValue seals a text, bytes, or anything else as JSON.
func (c core) sealValue(place seal.Place, value any) ([]byte, error) {
	var plain []byte
	var err error
	switch v := value.(type) {
	case string:
		plain = []byte(v)
	case []byte:
		plain = v
	default:
		plain, err = json.Marshal(v)
	}
	var sealed []byte
	if err == nil {
		sealed, err = c.keys.Seal(place, plain)
	}
	if err != nil {
		return nil, fmt.Errorf("seal %s.%s: %w", place.Table, place.Column, err)
	}
	return sealed, nil
}

// sealOptional is sealValue for a column that is NULL where there is no text.
func (c core) sealOptional(place seal.Place, text string) ([]byte, error) {
	if text == "" {
		return nil, nil
	}
	return c.sealValue(place, text)
}

// openSealed undoes sealValue: into is a *string, a *[]byte, or what JSON is read into.
func (c core) openSealed(place seal.Place, sealed []byte, into any) error {
	plain, err := c.keys.Unseal(place, sealed)
	if err == nil {
		switch v := into.(type) {
		case *string:
			*v = string(plain)
		case *[]byte:
			*v = plain
		default:
			err = json.Unmarshal(plain, into)
		}
	}
	return wrapError("open "+place.Table+"."+place.Column, err)
}

// unseals returns a target of Scan that opens a sealed column into a value. The place may name columns that stand
// before it in the row. NULL changes nothing.
func (c core) unseals(into any, place func() seal.Place) sql.Scanner {
	return scanFunc(func(sealed []byte) error {
		if sealed == nil {
			return nil
		}
		return c.openSealed(place(), sealed, into)
	})
}

// readSealed runs a query for one sealed value and opens it; missing is returned when there is no row.
func (c core) readSealed(
	ctx context.Context,
	q querier,
	place seal.Place,
	into any,
	missing error,
	query string,
	args ...any,
) error {
	err := readColumns(ctx, q, []any{c.unseals(into, func() seal.Place { return place })}, query, args...)
	if errors.Is(err, sql.ErrNoRows) {
		return missing
	}
	return err
}

// jsonArgument is an argument that is kept as JSON text.
type jsonArgument struct{ value any }

// Value returns the text.
func (j jsonArgument) Value() (driver.Value, error) {
	text, err := json.Marshal(j.value)
	return string(text), err
}

// parsesJSON returns a target of Scan for a column that holds JSON.
func parsesJSON(into any) sql.Scanner {
	return scanFunc(func(text []byte) error { return json.Unmarshal(text, into) })
}

// scanFunc is a target of Scan for a column that needs more than a copy.
type scanFunc func(value []byte) error

// Scan takes bytes, which are valid until it returns, or a text; nil for NULL.
func (f scanFunc) Scan(value any) error {
	switch v := value.(type) {
	case []byte:
		return f(v)
	case string:
		return f([]byte(v))
	case nil:
		return f(nil)
	}
	return fmt.Errorf("bytes are a %T", value)
}
