package sqldb

import (
	"context"
	"database/sql"
)

// BUG(sqldb): a list that comes from a standby is as old as the standby is behind: what was created a moment ago may be
// missing from it. A single thing is always read from the database itself.

// Lister answers single statements from a standby, and from the database itself where there is none or it fails. What
// it reads may be a little old, so it is for lists that people page through and never for what a decision or a write
// rests on.
type Lister struct{ d *DB }

// ListReader is for long lists.
func (d *DB) ListReader() Lister { return Lister{d} }

// StandbyPool returns the pool of the standby, or nil.
func (d *DB) StandbyPool() *sql.DB {
	if d.standby == nil {
		return nil
	}
	return d.standby.read
}

// QueryContext asks the standby first. Whatever is wrong with it, a missing table of a migration that has not arrived
// included, is a reason to ask the database itself; only a caller that is gone is not.
func (l Lister) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if s := l.d.StandbyPool(); s != nil {
		rows, err := s.QueryContext(ctx, query, args...)
		if err == nil || ctx.Err() != nil {
			return rows, err
		}
	}
	return l.d.KeptReader().QueryContext(ctx, query, args...)
}

// QueryRowContext is QueryContext for one row.
func (l Lister) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if s := l.d.StandbyPool(); s != nil {
		if row := s.QueryRowContext(ctx, query, args...); row.Err() == nil || ctx.Err() != nil {
			return row
		}
	}
	return l.d.KeptReader().QueryRowContext(ctx, query, args...)
}

// ExecContext is there because every querier has it; a list changes nothing, so it never goes to a standby.
func (l Lister) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return l.d.read.ExecContext(ctx, query, args...)
}
