package sqldb_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/platform/gatetest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/platform/sqldb/sqldbtest"
)

// TestPoolerThatKeepsSessionsApart works through PgBouncer as Debian configures it: sessions have their timeouts, and a
// hold keeps others out.
func TestPoolerThatKeepsSessionsApart(t *testing.T) {
	ctx := context.Background()
	pooler := sqldbtest.NewPooler(t, gatetest.Postgres(t), "")
	db, err := sqldb.OpenDatabase(ctx, pooler.Address()+"&lock_timeout=1234", sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if pooled, err := db.ProveSession(ctx); !pooled || err != nil {
		t.Error(pooled, err)
	}
	var lock, idle string
	err = db.ReadPool().QueryRowContext(ctx, `SELECT current_setting('lock_timeout'), current_setting('idle_in_transaction_session_timeout')`).Scan(&lock, &idle)
	if err != nil || lock != "1234ms" || idle != "5s" {
		t.Error(lock, idle, err)
	}
	one, two := db.NewHolder(), db.NewHolder()
	defer func() { _, _ = one.Close(), two.Close() }()
	if got, err := one.TakeNames(ctx, []string{"a"}); err != nil || len(got) != 1 {
		t.Error(got, err)
	}
	if got, err := two.TakeNames(ctx, []string{"a"}); err != nil || len(got) != 0 {
		t.Error("two holders have one name:", got, err)
	}
	// The operator changes the mode while the service runs.
	pooler.Stop()
	pooler.Start(t, "transaction")
	for try := 0; ; try++ {
		_, err := db.ProveSession(ctx)
		if errors.Is(err, sqldb.ErrSharedSession) {
			break
		}
		if try > 10 {
			t.Fatal("a pooler that shares sessions is not noticed:", err)
		}
	}
}

// TestPoolerThatSharesSessions is refused, in the words of an operator.
func TestPoolerThatSharesSessions(t *testing.T) {
	for _, mode := range []string{"transaction", "statement"} {
		pooler := sqldbtest.NewPooler(t, gatetest.Postgres(t), mode)
		for _, more := range []string{"", "&default_query_exec_mode=exec"} {
			db, err := sqldb.OpenDatabase(context.Background(), pooler.Address()+more, sqldb.Options{})
			if err == nil {
				_ = db.Close()
			}
			if !errors.Is(err, sqldb.ErrSharedSession) || !strings.Contains(err.Error(), "pool_mode = session") {
				t.Errorf("%s%s: %v", mode, more, err)
			}
		}
	}
}
