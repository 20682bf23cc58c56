package sqldb_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/vigiahq/vigia/internal/platform/gatetest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/platform/sqldb/sqldbtest"
)

// each runs fn on an empty database of both engines.
func each(t *testing.T, fn func(t *testing.T, address string, db *sqldb.DB)) {
	t.Helper()
	for _, engine := range sqldbtest.Engines(t) {
		t.Run(string(engine), func(t *testing.T) {
			address := sqldbtest.NewAddress(t, engine, sqldbtest.Folder(t))
			fn(t, address, open(t, address))
		})
	}
}

func open(t *testing.T, address string) *sqldb.DB {
	t.Helper()
	db, err := sqldb.OpenDatabase(context.Background(), address, sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func exec(t *testing.T, db *sqldb.DB, query string, args ...any) {
	t.Helper()
	err := db.InTransaction(context.Background(), func(tx *sqldb.Tx) error {
		_, err := tx.ExecContext(context.Background(), query, args...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, db *sqldb.DB, table string) int {
	t.Helper()
	var n int
	if err := db.ReadPool().QueryRowContext(context.Background(), `SELECT count(*) FROM `+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func files(texts ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for i, text := range texts {
		m[fmt.Sprintf("%04d_step.sql", i+1)] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

func steps(t *testing.T, texts ...string) []sqldb.Migration {
	t.Helper()
	list, err := sqldb.Migrations(files(texts...))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

const (
	stepA = `CREATE TABLE a (id TEXT PRIMARY KEY, n BIGINT NOT NULL, b BYTEA, ok BOOLEAN); CREATE INDEX a_n ON a (n);`
	stepB = `ALTER TABLE a ADD COLUMN note TEXT NOT NULL DEFAULT ''; INSERT INTO a (id, n) VALUES ('x', 1);`
)

func TestMigrate(t *testing.T) {
	each(t, func(t *testing.T, _ string, db *sqldb.DB) {
		ctx := context.Background()
		if pending, err := db.CountPending(ctx, steps(t, stepA, stepB)); err != nil || pending != 2 {
			t.Error("an empty database has all before it:", pending, err)
		}
		applied, err := db.ApplyMigrations(ctx, steps(t, stepA), time.Now())
		if err != nil || len(applied) != 1 {
			t.Fatal(applied, err)
		}
		applied, err = db.ApplyMigrations(ctx, steps(t, stepA, stepB), time.Now())
		if err != nil || len(applied) != 1 || applied[0].Version != 2 {
			t.Fatal(applied, err)
		}
		if applied, err = db.ApplyMigrations(ctx, steps(t, stepA, stepB), time.Now()); err != nil || len(applied) != 0 {
			t.Fatal("a second run must do nothing:", applied, err)
		}
		if _, err := db.ApplyMigrations(ctx, steps(t, stepA), time.Now()); !errors.Is(err, sqldb.ErrNewerDatabase) {
			t.Error("an older program must refuse:", err)
		}
		if _, err := db.CountPending(ctx, steps(t, stepA)); !errors.Is(err, sqldb.ErrNewerDatabase) {
			t.Error("an older program is not ready:", err)
		}
		// One migration fewer, but others: the database is not newer, it was made before they were rewritten.
		for _, list := range [][]sqldb.Migration{steps(t, stepA+" ", stepB), steps(t, stepA+" ")} {
			if _, err := db.ApplyMigrations(
				ctx,
				list,
				time.Now(),
			); !errors.Is(err, sqldb.ErrOtherSchema) ||
				errors.Is(err, sqldb.ErrNewerDatabase) {
				t.Error("a changed migration must be refused:", err)
			}
			if _, err := db.CountPending(ctx, list); !errors.Is(err, sqldb.ErrOtherSchema) {
				t.Error("a program with other migrations is not ready:", err)
			}
		}
	})
}

// TestMigrateHalf: a step that fails leaves nothing of itself behind.
func TestMigrateHalf(t *testing.T) {
	each(t, func(t *testing.T, _ string, db *sqldb.DB) {
		ctx := context.Background()
		if _, err := db.ApplyMigrations(
			ctx,
			steps(t, stepA, `CREATE TABLE half (id TEXT PRIMARY KEY); CREATE TABLE a (id TEXT);`),
			time.Now(),
		); err == nil {
			t.Fatal("a broken step passed")
		}
		if pending, err := db.CountPending(ctx, steps(t, stepA, stepB)); err != nil || pending != 1 {
			t.Error(pending, err)
		}
		if _, err := db.ApplyMigrations(ctx, steps(t, stepA, stepB), time.Now()); err != nil {
			t.Error("the mended step must apply:", err)
		}
		if err := db.ReadPool().QueryRowContext(ctx, `SELECT count(*) FROM half`).Scan(new(int)); err == nil {
			t.Error("the broken step left a table")
		}
	})
}

func TestMigrateByManyReplicas(t *testing.T) {
	each(t, func(t *testing.T, address string, _ *sqldb.DB) {
		list := steps(t, stepA, stepB)
		var wg sync.WaitGroup
		total := make([]int, 6)
		for i := range total {
			db := open(t, address)
			wg.Go(func() {
				applied, err := db.ApplyMigrations(context.Background(), list, time.Now())
				if err != nil {
					t.Error(err)
				}
				total[i] = len(applied)
			})
		}
		wg.Wait()
		sum := 0
		for _, n := range total {
			sum += n
		}
		if sum != len(list) {
			t.Errorf("%d steps were applied by all replicas together, want %d", sum, len(list))
		}
	})
}

func TestMigrationNames(t *testing.T) {
	for _, bad := range []fstest.MapFS{
		{"0002_x.sql": {}}, {"0001_x.sql": {}, "0003_y.sql": {}}, {"1.sql": {}}, {"abcd_x.sql": {}}, {"0001_x.sql": {}, "0001_y.sql": {}},
	} {
		if _, err := sqldb.Migrations(bad); err == nil {
			t.Errorf("%v: accepted", bad)
		}
	}
}

func TestTransactions(t *testing.T) {
	each(t, func(t *testing.T, _ string, db *sqldb.DB) {
		ctx := context.Background()
		exec(t, db, `CREATE TABLE a (id TEXT PRIMARY KEY)`)
		boom := errors.New("boom")
		err := db.InTransaction(ctx, func(tx *sqldb.Tx) error {
			if _, err := tx.ExecContext(ctx, `INSERT INTO a (id) VALUES ('lost')`); err != nil {
				return err
			}
			return boom
		})
		if !errors.Is(err, boom) || count(t, db, "a") != 0 {
			t.Error("an error must roll back:", err)
		}
		func() {
			defer func() { _ = recover() }()
			_ = db.InTransaction(ctx, func(tx *sqldb.Tx) error {
				_, _ = tx.ExecContext(ctx, `INSERT INTO a (id) VALUES ('lost')`)
				panic("boom")
			})
		}()
		if count(t, db, "a") != 0 {
			t.Error("a panic must roll back")
		}
		err = db.InTransaction(ctx, func(tx *sqldb.Tx) error {
			if _, err := tx.ExecContext(ctx, `INSERT INTO a (id) VALUES ('kept')`); err != nil {
				return err
			}
			err := tx.Savepoint(ctx, func() error {
				_, err := tx.ExecContext(ctx, `INSERT INTO a (id) VALUES ('undone')`)
				return errors.Join(err, boom)
			})
			if !errors.Is(err, boom) {
				t.Error("savepoint:", err)
			}
			return tx.Savepoint(ctx, func() error {
				_, err := tx.ExecContext(ctx, `INSERT INTO a (id) VALUES ('also kept')`)
				return err
			})
		})
		if err != nil || count(t, db, "a") != 2 {
			t.Error("savepoints:", err, count(t, db, "a"))
		}
		err = db.InTransaction(ctx, func(tx *sqldb.Tx) error {
			_, err := tx.ExecContext(ctx, `INSERT INTO a (id) VALUES ('kept')`)
			return err
		})
		if !sqldb.IsUnique(err) || sqldb.IsUnavailable(err) {
			t.Error("unique violation:", err)
		}
	})
}

// TestCommitAfterContextEnded: a transaction whose context ends before its commit says so, and not that it is done
// already.
func TestCommitAfterContextEnded(t *testing.T) {
	each(t, func(t *testing.T, _ string, db *sqldb.DB) {
		ctx, cancel := context.WithCancel(context.Background())
		err := db.InTransaction(ctx, func(tx *sqldb.Tx) error {
			cancel()
			for { // database/sql rolls back on its own
				if _, err := tx.ExecContext(context.Background(), `SELECT 1`); errors.Is(err, sql.ErrTxDone) {
					return nil
				}
			}
		})
		if !errors.Is(err, context.Canceled) {
			t.Error("not told that its context ended:", err)
		}
	})
}

// TestWritersQueue: many writers that read first and write then all get through.
func TestWritersQueue(t *testing.T) {
	each(t, func(t *testing.T, address string, db *sqldb.DB) {
		ctx := context.Background()
		exec(t, db, `CREATE TABLE c (id TEXT PRIMARY KEY, n BIGINT NOT NULL)`)
		exec(t, db, `INSERT INTO c (id, n) VALUES ('x', 0)`)
		second := open(t, address)
		var wg sync.WaitGroup
		for i := range 8 {
			d := db
			if i%2 == 1 {
				d = second
			}
			wg.Go(func() {
				for range 25 {
					err := d.InTransaction(ctx, func(tx *sqldb.Tx) error {
						var n int64
						if err := tx.QueryRowContext(ctx, `SELECT n FROM c WHERE id = 'y'`).Scan(&n); !errors.Is(err, sql.ErrNoRows) {
							return err
						}
						_, err := tx.ExecContext(ctx, `UPDATE c SET n = n + 1 WHERE id = 'x'`)
						return err
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		var n int64
		if err := db.ReadPool().QueryRowContext(ctx, `SELECT n FROM c`).Scan(&n); err != nil || n != 200 {
			t.Errorf("%d of 200 increments, %v", n, err)
		}
	})
}

func TestLoad(t *testing.T) {
	each(t, func(t *testing.T, _ string, db *sqldb.DB) {
		ctx := context.Background()
		exec(t, db, `CREATE TABLE l (id TEXT PRIMARY KEY, n BIGINT NOT NULL, b BYTEA, ok BOOLEAN NOT NULL)`)
		load := func(from, to int) error {
			return db.InTransaction(ctx, func(tx *sqldb.Tx) error {
				i, row := from, make([]any, 4)
				err := tx.InsertRows(ctx, "l", []string{"id", "n", "b", "ok"}, func() ([]any, error) {
					if i == to {
						return nil, nil
					}
					row[0], row[1], row[2], row[3] = fmt.Sprint("r", i), int64(i), []byte{0, byte(i), 255}, i%2 == 0
					i++
					return row, nil
				})
				return err
			})
		}
		if err := load(0, 1000); err != nil || count(t, db, "l") != 1000 {
			t.Fatal(err, count(t, db, "l"))
		}
		var b []byte
		var ok bool
		if err := db.ReadPool().QueryRowContext(ctx, `SELECT b, ok FROM l WHERE id = 'r7'`).Scan(&b, &ok); err != nil || string(b) != "\x00\x07\xff" || ok {
			t.Error(b, ok, err)
		}
		if err := load(999, 1010); !sqldb.IsUnique(err) || count(t, db, "l") != 1000 {
			t.Error("a load is all or nothing:", err, count(t, db, "l"))
		}
	})
}

// TestSnapshot: what others commit meanwhile is not seen, and nothing can be written.
func TestSnapshot(t *testing.T) {
	each(t, func(t *testing.T, _ string, db *sqldb.DB) {
		ctx := context.Background()
		exec := func(statement string) {
			t.Helper()
			err := db.InTransaction(
				ctx,
				func(tx *sqldb.Tx) error { _, err := tx.ExecContext(ctx, statement); return err },
			)
			if err != nil {
				t.Fatal(err)
			}
		}
		exec(`CREATE TABLE s (n INTEGER)`)
		exec(`INSERT INTO s (n) VALUES (1)`)
		err := db.ReadSnapshot(ctx, func(tx *sqldb.Tx) error {
			for range 2 {
				var n int
				if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM s`).Scan(&n); err != nil || n != 1 {
					t.Errorf("%d rows, want the one of the beginning (%v)", n, err)
				}
				exec(`INSERT INTO s (n) VALUES (2)`)
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO s (n) VALUES (3)`); err == nil {
				t.Error("a snapshot was written to")
			}
			return nil
		})
		if err != nil || count(t, db, "s") != 3 {
			t.Error(err, count(t, db, "s"))
		}
	})
}

// TestUnsafePostgres: a server that could lose acknowledged data is refused.
func TestUnsafePostgres(t *testing.T) {
	address := gatetest.Postgres(t)
	if !strings.Contains(address, "?") {
		address += "?"
	}
	_, err := sqldb.OpenDatabase(context.Background(), address+"&synchronous_commit=off", sqldb.Options{})
	if err == nil || !strings.Contains(err.Error(), "synchronous_commit") {
		t.Error("synchronous_commit=off was accepted:", err)
	}
	if _, err := sqldb.OpenDatabase(
		context.Background(),
		"postgres://nobody:secret-word@127.0.0.1:1/x",
		sqldb.Options{},
	); err == nil ||
		strings.Contains(err.Error(), "secret-word") {
		t.Error("an unreachable server:", err)
	}
}

func TestSQLiteSettings(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a b?#%.db"))
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "secure_delete": "1"} {
		for range 3 { // different connections of the pool
			var got string
			if err := db.ReadPool().QueryRowContext(context.Background(), "PRAGMA "+pragma).Scan(&got); err != nil || got != want {
				t.Errorf("%s is %q, want %q (%v)", pragma, got, want, err)
			}
		}
	}
	if _, err := db.ReadPool().ExecContext(context.Background(), `CREATE TABLE x (id TEXT)`); err == nil {
		t.Error("the reading pool can write")
	}
}
