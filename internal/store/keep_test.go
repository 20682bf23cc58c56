package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/store/storetest"
)

// readTable returns all rows of a table, to be compared or written back later.
func readTable(ctx context.Context, t testing.TB, e *storetest.Env, table string) (columns []string, kept [][]any) {
	t.Helper()
	rows, err := e.DB.ReadPool().QueryContext(ctx, `SELECT * FROM `+table)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	if columns, err = rows.Columns(); err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		row := make([]any, len(columns))
		dest := make([]any, len(row))
		for i := range row {
			dest[i] = &row[i]
		}
		if err := rows.Scan(dest...); err != nil {
			t.Fatal(err)
		}
		kept = append(kept, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return columns, kept
}

// keepTables copies tables as they are and returns what puts them back, a later one first emptied.
func keepTables(t testing.TB, e *storetest.Env, tables ...string) (restore func()) {
	t.Helper()
	ctx := context.Background()
	kept := map[string][][]any{}
	columns := map[string][]string{}
	for _, table := range tables {
		columns[table], kept[table] = readTable(ctx, t, e, table)
	}
	return func() {
		t.Helper()
		put := func(statement string, args ...any) {
			if err := storetest.Write(ctx, e, statement, args...); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
		for _, table := range slices.Backward(tables) {
			put(`DELETE FROM ` + table)
		}
		for _, table := range tables {
			marks := make([]string, len(columns[table]))
			for i := range marks {
				marks[i] = fmt.Sprintf("$%d", i+1)
			}
			for _, row := range kept[table] {
				put(
					`INSERT INTO `+table+` (`+strings.Join(
						columns[table],
						", ",
					)+`) VALUES (`+strings.Join(
						marks,
						", ",
					)+`)`,
					row...,
				)
			}
		}
	}
}
