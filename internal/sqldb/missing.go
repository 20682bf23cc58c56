package sqldb

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// LoadMissing is Load for rows that may be there already: one that meets a unique constraint is left out and the rest go in,
// whoever else is inserting the same ones at that moment. It returns how many were new. On PostgreSQL the rows are copied to
// a temporary table first, since COPY itself cannot leave any out.
func (t *Tx) LoadMissing(ctx context.Context, table string, columns []string, next func() ([]any, error)) (int64, error) {
	names := strings.Join(columns, ", ")
	if t.engine != PostgreSQL {
		return t.insertMissing(ctx, table, columns, next)
	}
	stage := "load_" + table
	// Made once per connection, emptied at each end of a transaction.
	_, err := t.ExecContext(ctx, `CREATE TEMPORARY TABLE IF NOT EXISTS `+stage+` (LIKE `+table+`) ON COMMIT DELETE ROWS`)
	if err == nil {
		_, err = t.ExecContext(ctx, `TRUNCATE pg_temp.`+stage) // what an earlier load of the same transaction left
	}
	if err != nil {
		return 0, fmt.Errorf("prepare load of %s: %w", table, err)
	}
	if _, err := t.copyFrom(ctx, stage, columns, next); err != nil {
		return 0, err
	}
	res, err := t.ExecContext(ctx, `INSERT INTO `+table+` (`+names+`) SELECT `+names+` FROM pg_temp.`+stage+` ON CONFLICT DO NOTHING`)
	if err != nil {
		return 0, fmt.Errorf("load %s: %w", table, err)
	}
	return res.RowsAffected()
}

func (t *Tx) insertMissing(ctx context.Context, table string, columns []string, next func() ([]any, error)) (n int64, err error) {
	marks := make([]string, len(columns))
	for i := range marks {
		marks[i] = "$" + strconv.Itoa(i+1)
	}
	stmt, err := t.PrepareContext(ctx, "INSERT INTO "+table+" ("+strings.Join(columns, ", ")+") VALUES ("+strings.Join(marks, ", ")+
		") ON CONFLICT DO NOTHING")
	if err != nil {
		return 0, fmt.Errorf("prepare load of %s: %w", table, err)
	}
	defer func() { err = errors.Join(err, stmt.Close()) }()
	for {
		row, err := next()
		if err != nil || row == nil {
			return n, err
		}
		res, err := stmt.ExecContext(ctx, row...)
		if err != nil {
			return n, fmt.Errorf("load %s: %w", table, err)
		}
		added, err := res.RowsAffected()
		if err != nil {
			return n, fmt.Errorf("load %s: %w", table, err)
		}
		n += added
	}
}
