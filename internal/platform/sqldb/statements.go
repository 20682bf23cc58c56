package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// Statement is one statement of a list.
type Statement struct {
	Query string
	Args  []any
}

// NewStatement returns a statement and its arguments.
func NewStatement(query string, args ...any) Statement { return Statement{query, args} }

// Statements are executed together, in order.
type Statements []Statement

// Add appends a statement and its arguments.
func (l *Statements) Add(query string, args ...any) { *l = append(*l, Statement{query, args}) }

// RunStatements executes statements that return nothing, in order, and stops at the first that fails. PostgreSQL gets
// them in one round trip; SQLite has each text prepared once. Few texts with many arguments are what it is for.
func (t *Tx) RunStatements(ctx context.Context, list []Statement) error {
	_, err := t.RunCounting(ctx, list)
	return err
}

// RunCounting is RunStatements, and tells how many rows each statement has changed.
func (t *Tx) RunCounting(ctx context.Context, list []Statement) (changed []int64, err error) {
	if len(list) == 0 {
		return nil, nil
	}
	changed = make([]int64, len(list))
	if t.engine == PostgreSQL {
		return changed, t.runPipelined(ctx, list, changed)
	}
	prepared := map[string]*sql.Stmt{}
	defer func() {
		for _, stmt := range prepared {
			err = errors.Join(err, stmt.Close())
		}
	}()
	for i, s := range list {
		stmt := prepared[s.Query]
		if stmt == nil {
			if stmt, err = t.PrepareContext(ctx, s.Query); err != nil {
				return changed, err
			}
			prepared[s.Query] = stmt
		}
		t.noteMarks(convertArguments(s.Args))
		res, err := stmt.ExecContext(ctx, s.Args...)
		if err != nil {
			return changed, fmt.Errorf("%.80s: %w", s.Query, err)
		}
		if changed[i], err = res.RowsAffected(); err != nil {
			return changed, err
		}
	}
	return changed, nil
}

// runPipelined sends statements in one round trip.
func (t *Tx) runPipelined(ctx context.Context, list []Statement, changed []int64) error {
	return t.conn.Raw(func(driverConn any) error {
		c, ok := driverConn.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("run statements: unexpected driver %T", driverConn)
		}
		batch := &pgx.Batch{}
		for _, s := range list {
			t.noteMarks(convertArguments(s.Args))
			batch.Queue(s.Query, s.Args...)
		}
		results := c.Conn().SendBatch(ctx, batch)
		for i := range list {
			tag, err := results.Exec()
			if err != nil {
				return errors.Join(fmt.Errorf("%.80s: %w", list[i].Query, err), results.Close())
			}
			changed[i] = tag.RowsAffected()
		}
		return results.Close()
	})
}
