package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/platform/sqldb/sqldbtest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// TestPoolerWithoutFreeConnection: two replicas at their default take all of PgBouncer's default pool. A command that
// finds none left says so in one sentence, with the setting, and does not wait for minutes.
func TestPoolerWithoutFreeConnection(t *testing.T) {
	ctx := context.Background()
	pooler := sqldbtest.NewPooler(t, storetest.NewAddress(t, sqldb.PostgreSQL, ""), "")
	data := filepath.Join(t.TempDir(), "data")
	if code, _, errs := vigia(t, "migrate", "--data", data, "--database", pooler.Address()); code != exitOK {
		t.Fatal(errs)
	}
	for range 20 { // PgBouncer's default_pool_size
		db, err := sqldb.OpenDatabase(ctx, pooler.Address(), sqldb.Options{MaxConns: 2})
		if err != nil {
			break // the proof of the session needs a second connection, and there is none
		}
		t.Cleanup(func() { _ = db.Close() })
		for range 2 {
			conn, err := db.ReadPool().Conn(ctx)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() })
		}
	}
	for _, command := range []string{"doctor", "check"} {
		code, out, errs := vigia(t, command, "--data", data, "--database", pooler.Address())
		if said := out + errs; code != exitFailure || !strings.Contains(said, "default_pool_size") ||
			!strings.Contains(said, "--max-connections") {
			t.Errorf("%s ends with %d and does not say that the pool is used up: %s", command, code, said)
		}
	}
}
