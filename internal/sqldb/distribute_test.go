package sqldb_test

import (
	"context"
	"errors"
	"testing"

	"github.com/vigiahq/vigia/internal/sqldb"
)

// TestDistributeNeedsTheExtension: a database that cannot spread its tables says so and stays as it is.
func TestDistributeNeedsTheExtension(t *testing.T) {
	each(t, func(t *testing.T, _ string, db *sqldb.DB) {
		exec(t, db, `CREATE TABLE part (partner_id INTEGER PRIMARY KEY)`)
		if n, err := db.Distribute(context.Background(), "partner_id", nil); !errors.Is(err, sqldb.ErrNotDistributed) || n != 0 {
			t.Errorf("%d tables, %v", n, err)
		}
	})
}
