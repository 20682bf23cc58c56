package sqldb_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// TestLoadMissing loads overlapping rows twice in one transaction and once in another, into a table that has a column
// more than the program knows of.
func TestLoadMissing(t *testing.T) {
	each(t, func(t *testing.T, _ string, db *sqldb.DB) {
		ctx := context.Background()
		load := func(tx *sqldb.Tx, key string, from, to int64) []int64 {
			t.Helper()
			n := from
			added, err := tx.LoadMissing(ctx, "missing", []string{"n", "text"}, key, func() ([]any, error) {
				if n == to {
					return nil, nil
				}
				n++
				return []any{n - 1, fmt.Sprint(n - 1)}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return added
		}
		err := db.InTransaction(ctx, func(tx *sqldb.Tx) error {
			if _, err := tx.ExecContext(
				ctx,
				`CREATE TABLE missing (n BIGINT PRIMARY KEY, text TEXT NOT NULL UNIQUE, later TEXT NOT NULL DEFAULT '')`,
			); err != nil {
				return err
			}
			if got := load(tx, "n", 0, 3); !slices.Equal(got, []int64{0, 1, 2}) {
				t.Error(got)
			}
			if got := load(tx, "n", 2, 5); !slices.Equal(got, []int64{3, 4}) {
				t.Error(got)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		err = db.InTransaction(ctx, func(tx *sqldb.Tx) error {
			if got := load(tx, "", 0, 10); got != nil {
				t.Error(got)
			}
			if got := load(tx, "n", 0, 10); len(got) != 0 {
				t.Error(got)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		err = db.InTransaction(ctx, func(tx *sqldb.Tx) error { // more than go as arguments, twice
			if got := load(tx, "n", 8, 1100); len(got) != 1090 || got[0] != 10 || got[1089] != 1099 {
				t.Error(len(got))
			}
			if got := load(tx, "n", 0, 1200); len(got) != 100 {
				t.Error(len(got))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		var n int
		if err := db.ReadPool().QueryRowContext(ctx, `SELECT count(*) FROM missing`).Scan(&n); err != nil || n != 1200 {
			t.Error(n, err)
		}
	})
}
