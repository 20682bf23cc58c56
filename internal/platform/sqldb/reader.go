package sqldb

import (
	"context"
	"database/sql"

	"github.com/jackc/pgx/v5"
	_ "modernc.org/sqlite" // registers the driver "sqlite"
)

// reader answers single statements that only read, outside of transactions.
type reader struct {
	d *DB
	// planned has PostgreSQL plan each statement for its arguments: its driver remembers what it returns, not the plan.
	planned bool
	// lists asks the standby first. Whatever is wrong with it, a missing table of a migration that has not arrived
	// included, is a reason to ask the database itself; only a caller that is gone is not.
	lists bool
}

// statement returns the kept statement of a text, or nil; on PostgreSQL the driver keeps them by itself.
func (r reader) statement(ctx context.Context, text string) *sql.Stmt {
	if r.d.engine != SQLite {
		return nil
	}
	stmt := r.d.readTexts.findStatement(text)
	if stmt == nil {
		r.d.readTexts.prepareWanted(context.WithoutCancel(ctx), r.d.read)
	}
	return stmt
}

// passArguments returns the arguments as the driver takes them.
func (r reader) passArguments(args []any) []any {
	if args = convertArguments(args); r.planned && r.d.engine == PostgreSQL {
		return append([]any{pgx.QueryExecModeCacheDescribe}, args...)
	}
	return args
}

// QueryRowContext uses the prepared statement of the query, if there is one by now.
func (r reader) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	args = r.passArguments(args)
	if s := r.d.StandbyPool(); r.lists && s != nil {
		if row := s.QueryRowContext(ctx, query, args...); row.Err() == nil || ctx.Err() != nil {
			return row
		}
	}
	defer r.d.engine.startStatement(ctx, query).End()
	if stmt := r.statement(ctx, query); stmt != nil { //nolint:sqlclosecheck // kept for as long as the database is open
		return stmt.QueryRowContext(ctx, args...)
	}
	return r.d.read.QueryRowContext(ctx, query, args...)
}

// QueryContext is QueryRowContext for any number of rows.
func (r reader) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	args = r.passArguments(args)
	if s := r.d.StandbyPool(); r.lists && s != nil {
		rows, err := s.QueryContext(ctx, query, args...) //nolint:sqlclosecheck // the caller closes the rows
		if err == nil || ctx.Err() != nil {
			return rows, err
		}
	}
	defer r.d.engine.startStatement(ctx, query).End()
	if stmt := r.statement(ctx, query); stmt != nil { //nolint:sqlclosecheck // kept for as long as the database is open
		return stmt.QueryContext(ctx, args...) //nolint:sqlclosecheck // the caller closes the rows
	}
	return r.d.read.QueryContext(ctx, query, args...) //nolint:sqlclosecheck // the caller closes the rows
}

// ReadPool is for single statements that only read, outside a transaction.
func (d *DB) ReadPool() *sql.DB { return d.read }

// KeptReader is for single statements that only read and are asked again and again: SQLite keeps them prepared,
// PostgreSQL's driver does so by itself.
func (d *DB) KeptReader() Querier { return reader{d: d} }

// UnpreparedReader is for single statements that only read queues; on SQLite beside the writer. PostgreSQL plans them
// for the tables as they are: a plan that was kept from when the table was empty reads all of it once it is full, until
// the engine counts the rows again.
func (d *DB) UnpreparedReader() Querier { return reader{d: d, planned: true} }

// Querier is what a statement that reads needs: a reader or a transaction. Its arguments may be times, durations and
// named types: see convertArguments.
type Querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// EachRow reads what a query finds, row by row.
func EachRow(ctx context.Context, q Querier, read func(Row) error, query string, args ...any) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // Err below reports what matters
	for rows.Next() {
		if err := read(KeptRow{rows}); err != nil {
			return err
		}
	}
	return rows.Err()
}

// BUG(sqldb): a list that comes from a standby is as old as the standby is behind: what was created a moment ago may be
// missing from it. A single thing is always read from the database itself.

// ListReader answers single statements from a standby, and from the database itself where there is none or it fails.
// What it reads may be a little old, so it is for long lists that people page through and never for what a decision or
// a write rests on.
func (d *DB) ListReader() Querier { return reader{d: d, lists: true} }

// StandbyPool returns the pool of the standby, or nil.
func (d *DB) StandbyPool() *sql.DB {
	if d.standby == nil {
		return nil
	}
	return d.standby.read
}
