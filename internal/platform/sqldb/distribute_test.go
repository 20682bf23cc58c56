package sqldb_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// TestDistributeNeedsTheExtension: a database that cannot spread its tables says so and stays as it is.
func TestDistributeNeedsTheExtension(t *testing.T) {
	each(t, func(t *testing.T, _ string, db *sqldb.DB) {
		exec(t, db, `CREATE TABLE part (partner_id INTEGER PRIMARY KEY)`)
		if n, err := db.Distribute(
			context.Background(),
			"partner_id",
			nil,
		); !errors.Is(err, sqldb.ErrNotDistributed) ||
			n != 0 {
			t.Errorf("%d tables, %v", n, err)
		}
	})
}

// TestNodeThatGoesAwayIsUnavailable: Citus reports a node that dies under a transaction as an internal error.
func TestNodeThatGoesAwayIsUnavailable(t *testing.T) {
	for message, want := range map[string]bool{
		"postmaster was shut down, exiting":                                       true,
		"failure on connection marked as essential: 127.0.0.1:5432":               true,
		"could not commit transaction for shard 102008 on at least one placement": true,
		"cache lookup failed for relation 16384":                                  false,
	} {
		if got := sqldb.IsUnavailable(&pgconn.PgError{Code: "XX000", Message: message}); got != want {
			t.Errorf("%s: %t", message, got)
		}
	}
}
