// Package sqldbtest makes databases for tests: SQLite files, and schemas on the PostgreSQL that VIGIA_TEST_POSTGRES
// names (scripts/with-postgres starts a private one). It knows no table of the product. In the gate a missing PostgreSQL
// is a failure; elsewhere what needs one is left to the gate.
package sqldbtest

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vigiahq/vigia/internal/platform/gatetest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// Folder makes a folder that goes with the test, in VIGIA_TEST_ROOM if that is set: `make test` names memory there.
// What a database costs on a disk is for the benches, and what a kill leaves is the same in memory.
func Folder(t testing.TB) string {
	t.Helper()
	room := os.Getenv("VIGIA_TEST_ROOM")
	if room == "" {
		return t.TempDir()
	}
	folder, err := os.MkdirTemp(room, "vigia-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	return folder
}

// Engines are those that a test of both engines runs on: SQLite, and PostgreSQL where there is one. VIGIA_TEST_ENGINES
// names those of a run that leaves one to another run.
func Engines(t *testing.T) []sqldb.Engine {
	t.Helper()
	if named := os.Getenv("VIGIA_TEST_ENGINES"); named != "" {
		var engines []sqldb.Engine
		for name := range strings.SplitSeq(named, ",") {
			engines = append(engines, sqldb.Engine(name))
		}
		return engines
	}
	if gatetest.HasPostgres() {
		return []sqldb.Engine{sqldb.SQLite, sqldb.PostgreSQL}
	}
	leftOut.Do(func() {
		t.Run(string(sqldb.PostgreSQL), func(t *testing.T) { gatetest.Needs(t, gatetest.PostgreSQL) })
	})
	return []sqldb.Engine{sqldb.SQLite}
}

// leftOut says once a package that its tests were not run on PostgreSQL.
var leftOut sync.Once

// NewAddress returns the address of an empty database: a file in the folder, or a schema that is dropped after the
// test.
func NewAddress(t testing.TB, engine sqldb.Engine, folder string) string {
	t.Helper()
	if engine == sqldb.SQLite {
		return filepath.Join(folder, "vigia.db")
	}
	ctx := context.Background()
	admin := Postgres(t)
	name := NewName()
	if _, err := admin.ExecContext(ctx, "CREATE SCHEMA "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, err := admin.ExecContext(ctx, "DROP SCHEMA "+name+" CASCADE")
		for try := 0; err != nil && try < 10; try++ { // the last statement of a process that was killed may still be at work in it
			time.Sleep(time.Second)
			_, err = admin.ExecContext(ctx, "DROP SCHEMA IF EXISTS "+name+" CASCADE")
		}
		if err != nil {
			t.Error(err)
		}
	})
	address, err := AddressOf("", name)
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// NewName returns a name that no other schema or database of the test server has.
func NewName() string { return "t_" + strings.ReplaceAll(uuid.NewString(), "-", "") }

// Postgres returns the test server, as its administrator.
func Postgres(t testing.TB) *sql.DB {
	t.Helper()
	gatetest.Postgres(t)
	db, err := Administrator()
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// Administrator is the test server, as its administrator. It stays open as long as the tests run.
var Administrator = sync.OnceValues(func() (*sql.DB, error) {
	address := os.Getenv("VIGIA_TEST_POSTGRES")
	if address == "" {
		return nil, errors.New(
			"VIGIA_TEST_POSTGRES is not set: run the tests with 'make gate', or under scripts/with-postgres",
		)
	}
	db, err := sql.Open("pgx", address)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(4)
	db.SetConnMaxIdleTime(time.Second)
	return db, nil
})

// AddressOf returns the test server's address with another database, and in it one schema alone. An empty name leaves
// the database as it is.
func AddressOf(database, schema string) (string, error) {
	u, err := url.Parse(os.Getenv("VIGIA_TEST_POSTGRES"))
	if err != nil {
		return "", err
	}
	if database != "" {
		u.Path = "/" + database
	}
	q := u.Query()
	q.Set("search_path", schema)
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// WithoutReferences runs statements on a SQLite file behind the program's back, as an operator with a SQL shell would:
// foreign keys are not enforced, and the program's own rules do not apply.
func WithoutReferences(t testing.TB, path string, statements ...string) {
	t.Helper()
	ctx := context.Background()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	defer func() { _ = db.Close() }()
	for _, s := range append([]string{`PRAGMA busy_timeout = 5000`, `PRAGMA foreign_keys = 0`, `PRAGMA ignore_check_constraints = 1`}, statements...) {
		if _, err := db.ExecContext(ctx, s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}
