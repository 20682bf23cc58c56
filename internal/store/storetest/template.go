package storetest

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/platform/sqldb/sqldbtest"
	"github.com/vigiahq/vigia/internal/store"
)

// Making the tables costs more than most tests do with them, so they are made once, and every database is a copy.

// templateSchema is the schema in a copy of the template: never the one that is there by itself, so that a statement
// that names it would be noticed.
const templateSchema = "vigia"

// newMigrated returns the address of a database that has every table and no row of a partner.
func newMigrated(t testing.TB, engine sqldb.Engine, folder string) string {
	t.Helper()
	if engine == sqldb.PostgreSQL {
		return copyPostgres(t)
	}
	made, err := templateFile()
	if err != nil {
		t.Fatal(err)
	}
	path := NewAddress(t, engine, folder)
	if err := os.WriteFile(path, made, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// templateFile is a migrated SQLite file.
var templateFile = sync.OnceValues(func() ([]byte, error) {
	folder, err := os.MkdirTemp(os.Getenv("VIGIA_TEST_ROOM"), "vigia-test-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	path := filepath.Join(folder, "vigia.db")
	if err := migrateAt(context.Background(), path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// migrateAt runs the statements of first and then all migrations. It closes the database again: a template is copied
// only while there are no connections to it.
func migrateAt(ctx context.Context, address string, first ...string) (err error) {
	db, err := sqldb.OpenDatabase(ctx, address, sqldb.Options{MaxConns: 2})
	if err != nil {
		return err
	}
	defer func() {
		if cerr := db.Close(); err == nil {
			err = cerr
		}
	}()
	for _, statement := range first {
		err := db.InTransaction(ctx, func(tx *sqldb.Tx) error { _, err := tx.ExecContext(ctx, statement); return err })
		if err != nil {
			return err
		}
	}
	_, err = store.Migrate(ctx, db, Start)
	return err
}

// mayIdle, behind an address, lets sessions idle in a transaction for a minute: a test's process may get no processor
// for longer than the product allows. The tests of paused replicas have servers and databases of their own, with its
// limit.
const mayIdle = "&idle_in_transaction_session_timeout=60000"

// copyPostgres makes a copy of the template and drops it after the test. On Citus the tables are spread one by one, so
// each test makes its own.
func copyPostgres(t testing.TB) string {
	t.Helper()
	if IsCitus() {
		return NewAddress(t, sqldb.PostgreSQL, "") + mayIdle
	}
	ctx := context.Background()
	admin := sqldbtest.Postgres(t)
	template, err := templateDatabase()
	if err != nil {
		t.Fatal(err)
	}
	name := sqldbtest.NewName()
	_, err = admin.ExecContext(ctx, "CREATE DATABASE "+name+" TEMPLATE "+template+" STRATEGY "+copyStrategy())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := admin.ExecContext(ctx, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	address, err := sqldbtest.AddressOf(name, templateSchema)
	if err != nil {
		t.Fatal(err)
	}
	return address + mayIdle
}

// copyStrategy: in memory copying files is the quicker way; on a disk it waits for each of a thousand small files.
func copyStrategy() string {
	if os.Getenv("VIGIA_TEST_ROOM") != "" {
		return "FILE_COPY"
	}
	return "WAL_LOG"
}

// templateDatabase is the name of a migrated database on the test server. Test programs that run beside this one share
// it: who comes first makes it, under a lock, and it gets its name only when it is whole.
var templateDatabase = sync.OnceValues(func() (name string, err error) {
	ctx := context.Background()
	admin, err := sqldbtest.Administrator()
	if err != nil {
		return "", err
	}
	list, err := store.MigrationList()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, m := range list {
		sum.Write([]byte(m.Checksum))
	}
	name = "template_" + hex.EncodeToString(sum.Sum(nil))[:16]
	conn, err := admin.Conn(ctx)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	const lock = 0x74656d70
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", lock); err != nil {
		return "", err
	}
	defer func() { _, _ = conn.ExecContext(ctx, "SELECT pg_advisory_unlock($1)", lock) }()
	var made bool
	const exists = "SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)"
	if err := conn.QueryRowContext(ctx, exists, name).Scan(&made); err != nil || made {
		return name, err
	}
	return name, makeTemplate(ctx, conn, name)
})

// makeTemplate builds the template under another name and renames it at the end, so that an interrupted test run never
// leaves half a template behind.
func makeTemplate(ctx context.Context, conn *sql.Conn, name string) error {
	begun := "begun_" + name
	for _, statement := range []string{
		"DROP DATABASE IF EXISTS " + begun + " WITH (FORCE)",
		"CREATE DATABASE " + begun,
	} {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	address, err := sqldbtest.AddressOf(begun, templateSchema)
	if err != nil {
		return err
	}
	if err := migrateAt(ctx, address, "CREATE SCHEMA "+templateSchema); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "ALTER DATABASE "+begun+" RENAME TO "+name)
	return err
}
