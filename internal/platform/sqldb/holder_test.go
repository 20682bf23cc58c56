package sqldb_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/platform/polltest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/platform/sqldb/sqldbtest"
)

// TestHoldEndsWithItsSession: a holder whose session the server has ended is told so and has nothing any more, and
// another one gets what it had at once.
func TestHoldEndsWithItsSession(t *testing.T) {
	db := open(t, sqldbtest.NewAddress(t, sqldb.PostgreSQL, t.TempDir()))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	first, second := db.NewHolder(), db.NewHolder()
	t.Cleanup(func() { _, _ = first.Close(), second.Close() })
	take := func(h *sqldb.Holder, want ...string) {
		t.Helper()
		got, err := h.TakeNames(ctx, []string{"a", "b"})
		if slices.Sort(got); err != nil || !slices.Equal(got, want) {
			t.Errorf("got %v instead of %v: %v", got, want, err)
		}
	}
	take(first, "a", "b")
	take(second)
	var ended int
	// Tests of other packages hold locks in this database too: only the session that holds this name is ended.
	err := db.ReadPool().QueryRowContext(ctx, `SELECT count(pg_terminate_backend(l.pid)) FROM pg_locks l
		WHERE l.locktype = 'advisory' AND l.granted AND (l.classid::bigint << 32 | l.objid::bigint) = $1`, sqldb.HoldKey("a")).Scan(&ended)
	if err != nil || ended != 1 {
		t.Fatalf("%d sessions hold something: %v", ended, err)
	}
	polltest.Until(t, "the first holder notices", func() bool { return first.ConfirmHeld(ctx) != nil || ctx.Err() != nil })
	for { // a session says good-bye before it lets go
		if got, err := second.TakeNames(ctx, []string{"a", "b"}); err != nil || len(got) == 2 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	take(second, "a", "b")
	take(first)
	if err := second.ReleaseNames(ctx, []string{"b"}); err != nil {
		t.Error(err)
	}
	take(first, "b")
	if err := second.ConfirmHeld(ctx); err != nil {
		t.Error(err)
	}
}
