package sqldb_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/sqldb"
)

// TestScrubWipesWhereRowsWere: rows that grow are moved, and copies of them stay in the file where they were. After a
// scrub nothing of deleted rows is in the file, and everything else is as it was.
func TestScrubWipesWhereRowsWere(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "vigia.db")
	db := open(t, path)
	exec := func(statement string, args ...any) {
		t.Helper()
		err := db.InTx(ctx, func(tx *sqldb.Tx) error { _, err := tx.ExecContext(ctx, statement, args...); return err })
		if err != nil {
			t.Fatal(err)
		}
	}
	mark := func(n int) string { return fmt.Sprintf("mark-of-row-%06d", n) }
	exec(`CREATE TABLE r (id TEXT PRIMARY KEY, value TEXT NOT NULL, more TEXT NOT NULL)`)
	const rows = 600
	for n := range rows {
		exec(`INSERT INTO r (id, value, more) VALUES ($1, $2, $3)`, fmt.Sprintf("%08x", n*2654435761%(1<<32)), mark(n)+strings.Repeat(".", n%90), "")
	}
	for n := range rows {
		exec(`UPDATE r SET more = $2 WHERE value LIKE $1`, mark(n)+"%", strings.Repeat("x", 40+n%300))
	}
	exec(`DELETE FROM r WHERE substr(value, 13, 6) % 3 = 0`)
	left := func() (deleted int) {
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; n < rows; n += 3 {
			deleted += bytes.Count(file, []byte(mark(n)))
		}
		return deleted
	}
	if _, err := db.Reader().ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
		t.Fatal(err)
	}
	if left() == 0 {
		t.Fatal("no row left a copy behind: the test shows nothing")
	}
	if err := db.Scrub(ctx); err != nil {
		t.Fatal(err)
	}
	if n := left(); n != 0 {
		t.Errorf("%d copies of deleted rows are still in the file", n)
	}
	if damage, err := db.Damage(ctx, 10); err != nil || len(damage) != 0 {
		t.Error(damage, err)
	}
	for n := range rows {
		var kept, more int
		err := db.Reader().QueryRowContext(ctx, `SELECT count(*), coalesce(max(length(more)), 0) FROM r WHERE value LIKE $1`, mark(n)+"%").Scan(&kept, &more)
		if want := n%3 != 0; err != nil || (kept == 1) != want || want && more != 40+n%300 {
			t.Fatalf("row %d: %d, %d, %v", n, kept, more, err)
		}
	}
}
