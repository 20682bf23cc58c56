package sqldb

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	sqlite3 "modernc.org/sqlite/lib"
)

// TestPreparedStatements: a text that is asked again is prepared once, gives the same answers inside transactions that
// fail and after the schema changed, and texts of every length do not fill the memory.
func TestPreparedStatements(t *testing.T) {
	ctx := context.Background()
	d, err := OpenDatabase(ctx, filepath.Join(t.TempDir(), "test.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	run := func(text string, args ...any) error {
		return d.InTransaction(ctx, func(tx *Tx) error {
			_, err := tx.ExecContext(ctx, text, args...)
			return err
		})
	}
	if err := run(`CREATE TABLE item (id BIGINT PRIMARY KEY, word TEXT NOT NULL)`); err != nil {
		t.Fatal(err)
	}
	const insert = `INSERT INTO item (id, word) VALUES ($1, $2)`
	for i := range 4 {
		if err := run(insert, i, fmt.Sprint("word ", i)); err != nil {
			t.Fatal(err)
		}
	}
	if d.texts.kept[insert] == nil {
		t.Error("a text that was used four times is not kept")
	}
	if err := run(insert, 1, "twin"); !IsUnique(err) {
		t.Errorf("a second row of the same key: %v", err)
	}
	if err := run(`ALTER TABLE item ADD COLUMN note TEXT NOT NULL DEFAULT 'none'`); err != nil {
		t.Fatal(err)
	}
	const read = `SELECT word || ' ' || note FROM item WHERE id = $1`
	for range 4 {
		if err := run(insert+` ON CONFLICT DO NOTHING`, 9, "late"); err != nil {
			t.Fatal(err)
		}
		var word string
		err := d.InTransaction(ctx, func(tx *Tx) error { return tx.QueryRowContext(ctx, read, 3).Scan(&word) })
		if err != nil || word != "word 3 none" {
			t.Errorf("%q %v", word, err)
		}
	}
	for i := range maxPrepared + 50 {
		for range 3 {
			if err := run(fmt.Sprintf(`UPDATE item SET word = 'w' WHERE id = %d`, 1000+i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := len(d.texts.kept); n > maxPrepared {
		t.Errorf("%d statements are kept, at most %d are meant to be", n, maxPrepared)
	}
}

// TestKeptReader: a text that is read again is prepared once, for many readers at a time, and still answers right after
// the schema changed.
func TestKeptReader(t *testing.T) {
	ctx := context.Background()
	d, err := OpenDatabase(ctx, filepath.Join(t.TempDir(), "test.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	change := func(text string) {
		t.Helper()
		if err := d.InTransaction(
			ctx,
			func(tx *Tx) error { _, err := tx.ExecContext(ctx, text); return err },
		); err != nil {
			t.Fatal(err)
		}
	}
	change(`CREATE TABLE item (id BIGINT PRIMARY KEY)`)
	change(`INSERT INTO item (id) VALUES (1), (2), (3)`)
	const read = `SELECT count(*) FROM item WHERE id >= $1`
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			for from := range 4 {
				var n int
				if err := d.KeptReader().QueryRowContext(ctx, read, from).Scan(&n); err != nil || n != min(3, 4-from) {
					t.Errorf("%d from %d on: %v", n, from, err)
				}
			}
		})
	}
	wg.Wait()
	if len(d.readTexts.kept) != 1 || d.readTexts.kept[read] == nil {
		t.Errorf("%d texts are kept", len(d.readTexts.kept))
	}
	change(`ALTER TABLE item ADD COLUMN note TEXT NOT NULL DEFAULT ''`)
	change(`DELETE FROM item WHERE id = 2`)
	for range 10 { // so that each connection is met
		var n int
		if err := d.KeptReader().QueryRowContext(ctx, read, 1).Scan(&n); err != nil || n != 2 {
			t.Errorf("%d after a change: %v", n, err)
		}
	}
}

// IsUnique tells whether err is the violation of a unique constraint.
func IsUnique(err error) bool {
	return hasSQLState(err, "23505") ||
		hasSQLiteCode(err, sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY)
}
