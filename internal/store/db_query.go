package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// querier is what a statement that reads needs: a transaction, or the pool that only reads.
type querier = sqldb.Querier

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
	ctx context.Context, q querier, scan func(scanner, *T) error, query string, args ...any,
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
	return collectRows(ctx, q, scanValue[T], query, args...)
}

// scanValue scans a row of one column.
func scanValue[T any](row scanner, v *T) error { return row.Scan(v) }

// readRow runs a query for one row, and returns missing when there is none.
func readRow[T any](
	ctx context.Context, q querier, scan func(scanner, *T) error, missing error, query string, args ...any,
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

// readColumns runs a query for one row into dest; sql.ErrNoRows when there is none.
func readColumns(ctx context.Context, q querier, dest []any, query string, args ...any) error {
	return statementError(query, sqldb.KeptRow{Row: q.QueryRowContext(ctx, query, args...)}.Scan(dest...))
}
