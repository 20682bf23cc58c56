package sqldb_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/platform/sqldb/sqldbtest"
)

// TestCopyTo: a copy is of one moment while others write, is private, and replaces nothing.
func TestCopyTo(t *testing.T) {
	ctx := context.Background()
	folder := t.TempDir()
	db := open(t, filepath.Join(folder, "a b.db"))
	exec(t, db, `CREATE TABLE pair (id BIGINT PRIMARY KEY, a BIGINT NOT NULL, b BIGINT NOT NULL)`)
	exec(t, db, `INSERT INTO pair (id, a, b) VALUES (1, 0, 0)`)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 1; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			err := db.InTransaction(ctx, func(tx *sqldb.Tx) error {
				if _, err := tx.ExecContext(ctx, `UPDATE pair SET a = $1 WHERE id = 1`, i); err != nil {
					return err
				}
				_, err := tx.ExecContext(ctx, `UPDATE pair SET b = $1 WHERE id = 1`, i)
				return err
			})
			if err != nil {
				t.Error(err)
				return
			}
		}
	}()
	for i := range 5 {
		path := filepath.Join(folder, fmt.Sprintf("copy %d.db", i))
		if err := db.CopyFileTo(ctx, path); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Error("a copy that others can read:", info.Mode(), err)
		}
		var a, b int
		if err := open(t, path).ReadPool().QueryRowContext(ctx, `SELECT a, b FROM pair`).Scan(&a, &b); err != nil || a != b {
			t.Error("the copy is not of one moment:", a, b, err)
		}
		if err := db.CopyFileTo(ctx, path); err == nil {
			t.Error("a copy replaced a file")
		}
	}
	close(stop)
	<-stopped
	if err := open(t, sqldbtest.NewAddress(t, sqldb.PostgreSQL, "")).CopyFileTo(ctx, filepath.Join(folder, "pg")); !errors.Is(err, sqldb.ErrNotEmbedded) {
		t.Error(err)
	}
}

// TestPassingFileIsNotSynced: only a file that is thrown away may go without syncs.
func TestPassingFileIsNotSynced(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		passing bool
		want    int
	}{{true, 0}, {false, 2}} {
		db, err := sqldb.OpenDatabase(ctx, filepath.Join(t.TempDir(), "vigia.db"), sqldb.Options{Passing: c.passing})
		if err != nil {
			t.Fatal(err)
		}
		var reading, writing int
		err = errors.Join(
			db.ReadPool().QueryRowContext(ctx, `PRAGMA synchronous`).Scan(&reading),
			db.InTransaction(ctx, func(tx *sqldb.Tx) error {
				return tx.QueryRowContext(ctx, `PRAGMA synchronous`).Scan(&writing)
			}),
			db.Close(),
		)
		if err != nil || reading != c.want || writing != c.want {
			t.Errorf(
				"passing %v: synchronous is %d for who reads and %d for who writes, want %d: %v",
				c.passing,
				reading,
				writing,
				c.want,
				err,
			)
		}
	}
}

// TestScrub: after it the files hold nothing of a deleted row, and before it they do.
func TestScrub(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "x.db")
	db := open(t, path)
	secret := []byte("a value to be gone for good")
	holds := func() bool {
		t.Helper()
		for _, name := range []string{path, path + "-wal"} {
			raw, err := os.ReadFile(name)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			if bytes.Contains(raw, secret) {
				return true
			}
		}
		return false
	}
	exec(t, db, `CREATE TABLE v (id BIGINT PRIMARY KEY, x BYTEA)`)
	exec(t, db, `INSERT INTO v (id, x) VALUES (1, $1)`, secret)
	exec(t, db, `DELETE FROM v`)
	if !holds() {
		t.Fatal("the test looks in the wrong place")
	}
	if err := db.ScrubDeleted(ctx, "v"); err != nil || holds() {
		t.Error("a deleted value is still there:", err)
	}

	exec(t, db, `INSERT INTO v (id, x) VALUES (2, $1)`, secret)
	rows, err := open(t, path).ReadPool().QueryContext(ctx, `SELECT x FROM v`) // a reader that stays
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if !rows.Next() {
		t.Fatal(rows.Err())
	}
	exec(t, db, `DELETE FROM v`)
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if err := db.ScrubDeleted(short, "v"); err == nil {
		t.Error("scrubbed under a reader")
	}
	if rows.Next() || rows.Err() != nil { // its end closes it
		t.Fatal("more than one row, or", rows.Err())
	}
	if err := db.ScrubDeleted(ctx, "v"); err != nil || holds() {
		t.Error("a deleted value is still there:", err)
	}
	pg := open(t, sqldbtest.NewAddress(t, sqldb.PostgreSQL, ""))
	exec(t, pg, `CREATE TABLE v (id BIGINT PRIMARY KEY)`)
	if err := pg.ScrubDeleted(ctx, "v"); err != nil {
		t.Error(err)
	}
}

func TestDamage(t *testing.T) {
	ctx := context.Background()
	each(t, func(t *testing.T, address string, db *sqldb.DB) {
		exec(t, db, `CREATE TABLE parent (id BIGINT PRIMARY KEY)`)
		exec(
			t,
			db,
			`CREATE TABLE child (id BIGINT PRIMARY KEY, parent BIGINT NOT NULL REFERENCES parent (id), n BIGINT NOT NULL)`,
		)
		exec(t, db, `CREATE INDEX child_n ON child (n)`)
		exec(t, db, `INSERT INTO parent (id) VALUES (1)`)
		exec(t, db, `INSERT INTO child (id, parent, n) VALUES (1, 1, 7)`)
		if found, err := db.FindDamage(ctx, 10); err != nil || len(found) != 0 {
			t.Fatal("a sound database:", found, err)
		}
		if db.EngineName() == sqldb.PostgreSQL {
			exec(t, db, `UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'child_n'::regclass`)
			if found, err := db.FindDamage(
				ctx,
				10,
			); err != nil || len(found) != 1 ||
				!strings.Contains(found[0], "child_n") {
				t.Error(found, err)
			}
			return
		}
		sqldbtest.WithoutReferences(t, address, `DELETE FROM parent`)
		if found, err := db.FindDamage(
			ctx,
			10,
		); err != nil || len(found) != 1 ||
			!strings.Contains(found[0], "1 rows of child refer to rows of parent") {
			t.Error(found, err)
		}
		sqldbtest.WithoutReferences(t, address, `INSERT INTO parent (id) VALUES (1)`, `PRAGMA writable_schema = 1`,
			`DELETE FROM sqlite_schema WHERE name = 'child_n'`)
		if found, err := open(t, address).FindDamage(ctx, 10); err != nil || len(found) == 0 {
			t.Error("pages that belong to nothing were not noticed:", found, err)
		}
	})
}
