package sqldb

import (
	"context"
	"fmt"
)

// Sizes tells what grows: see TellPlanner.
type Sizes struct {
	// Small are the tables that stay short, whatever the service grows to.
	Small map[string]bool
	// Repeated are the columns of which many rows have the same value.
	Repeated map[string]bool
}

// What the planner is told: rows of a table, how many values a column of Repeated has, and how many rows share a value
// of any other column, which is more than one so that the columns behind it still help.
const (
	smallTable, largeTable = 1000, 1_000_000
	fewValues              = 4
	sharers                = 10
)

// TellPlanner writes what SQLite's planner has to know of the tables. Untold, it believes that ten rows share a value
// of an index's first column. Ours is the partner, who has millions, so it would rather read all of a partner in the
// order that is asked for than look up the few rows that are wanted.
//
// These are rules of thumb and not counts, so that a plan is the same on the first day as in the third year, and that
// what a test sees is what an operator gets. PostgreSQL counts for itself.
func (d *DB) TellPlanner(ctx context.Context, sizes Sizes) error {
	if d.engine != SQLite {
		return nil
	}
	err := d.InTx(ctx, func(tx *Tx) error {
		indexes, err := tx.indexes(ctx)
		if err != nil {
			return err
		}
		// The first makes the table of statistics, the second has this connection read it; others do when they see that
		// the schema has changed.
		if _, err := tx.ExecContext(ctx, `ANALYZE sqlite_schema`); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM sqlite_stat1`); err != nil {
			return err
		}
		for _, i := range indexes {
			if _, err := tx.ExecContext(ctx, `INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ($1, $2, $3)`, i.table, i.name, i.statistics(sizes)); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, `ANALYZE sqlite_schema`)
		return err
	})
	if err != nil {
		return fmt.Errorf("tell the planner: %w", err)
	}
	return nil
}

// index is one of SQLite's.
type index struct {
	table, name     string
	unique, partial bool
	columns         []string // an expression has no name
}

func (t *Tx) indexes(ctx context.Context) (all []index, err error) {
	rows, err := t.QueryContext(ctx, `SELECT m.tbl_name, m.name, l."unique", l.partial, coalesce(i.name, '')
		FROM sqlite_schema m JOIN pragma_index_list(m.tbl_name) l ON l.name = m.name JOIN pragma_index_info(m.name) i
		WHERE m.type = 'index' ORDER BY m.tbl_name, m.name, i.seqno`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var next index
		var column string
		if err := rows.Scan(&next.table, &next.name, &next.unique, &next.partial, &column); err != nil {
			return nil, err
		}
		if len(all) == 0 || all[len(all)-1].name != next.name {
			all = append(all, next)
		}
		last := &all[len(all)-1]
		last.columns = append(last.columns, column)
	}
	return all, rows.Err()
}

// statistics are the rows of the index, then how many of them share the values of its first column, of its first two,
// and so on. No skip-scan: one look for each partner is no plan.
func (i index) statistics(sizes Sizes) string {
	rows := largeTable
	if sizes.Small[i.table] {
		rows = smallTable
	}
	if i.partial { // some of these hold most rows of their table, some hardly any: either way they beat the table itself
		rows /= 2
	}
	text := fmt.Sprint(rows)
	for n, column := range i.columns {
		switch {
		case i.unique && n == len(i.columns)-1:
			rows = 1
		case sizes.Repeated[column]:
			rows /= fewValues
		case rows > sharers:
			rows = sharers
		default:
			rows /= 2
		}
		rows = max(1, rows)
		text += fmt.Sprint(" ", rows)
	}
	return text + " noskipscan"
}
