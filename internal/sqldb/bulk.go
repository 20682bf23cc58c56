package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// InsertRows inserts rows into table: many with each statement on PostgreSQL, a prepared statement in a loop on SQLite (where
// one statement with many rows is slower). next returns the values of the next row, or nil after the last one; the slice
// may be reused between calls, and only bytes may be NULL. Table and columns are names from this program, never from a
// caller.
func (t *Tx) InsertRows(ctx context.Context, table string, columns []string, next func() ([]any, error)) (n int64, err error) {
	if t.engine == PostgreSQL {
		return t.insertChunks(table, columns, "", next, func(insert string, args []any) error {
			_, err := t.ExecContext(ctx, insert, args...)
			return err
		})
	}
	stmt, err := t.PrepareContext(ctx, "INSERT INTO "+table+" ("+strings.Join(columns, ", ")+") VALUES ("+marks(len(columns))+")")
	if err != nil {
		return 0, fmt.Errorf("prepare load of %s: %w", table, err)
	}
	defer func() { err = errors.Join(err, stmt.Close()) }()
	for ; ; n++ {
		row, err := next()
		if err != nil || row == nil {
			return n, err
		}
		if _, err := stmt.ExecContext(ctx, row...); err != nil {
			return n, fmt.Errorf("load %s: %w", table, err)
		}
	}
}

// Statement is one statement of a list.
type Statement struct {
	Query string
	Args  []any
}

// RunStatements executes statements that return nothing, in order, and stops at the first that fails. PostgreSQL gets them in one
// round trip; SQLite has each text prepared once. Few texts with many arguments are what it is for.
func (t *Tx) RunStatements(ctx context.Context, list []Statement) error {
	_, err := t.RunCounting(ctx, list)
	return err
}

// RunCounting is Run, and tells how many rows each statement has changed.
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
		res, err := stmt.ExecContext(ctx, s.Args...)
		if err != nil {
			return changed, err
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
			batch.Queue(s.Query, s.Args...)
		}
		results := c.Conn().SendBatch(ctx, batch)
		for i := range list {
			tag, err := results.Exec()
			if err != nil {
				return errors.Join(err, results.Close())
			}
			changed[i] = tag.RowsAffected()
		}
		return results.Close()
	})
}

// InListCondition returns the condition that a column is in the list of numbers that List made argument n of. The text
// does not depend on the length of the list, so that it stays prepared, and SQLite is spared looking for the name of
// each of hundreds of arguments.
func (t *Tx) InListCondition(n int) string {
	if t.engine == PostgreSQL {
		return "= ANY($" + strconv.Itoa(n) + ")"
	}
	return "IN (SELECT value FROM json_each($" + strconv.Itoa(n) + "))"
}

// ListArgument makes an argument for InList.
func (t *Tx) ListArgument(numbers []int64) any {
	if t.engine == PostgreSQL {
		return numbers
	}
	text := []byte{'['}
	for i, n := range numbers {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, n, 10)
	}
	return string(append(text, ']'))
}
