package store_test

import (
	"errors"
	"testing"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/platform/sqldb/sqldbtest"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

func openNode(t *testing.T, address string) *sqldb.DB {
	t.Helper()
	db, err := sqldb.OpenDatabase(t.Context(), address, sqldb.Options{MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// TestHoldsOfAllNodes: what a replica holds no other gets, whichever node of a Citus cluster each was given.
func TestHoldsOfAllNodes(t *testing.T) {
	t.Run("postgres", func(t *testing.T) {
		e := storetest.Open(t, sqldb.PostgreSQL)
		nodes, taken := append(storetest.Nodes(t, e.Address), e.Address), 0
		for _, node := range nodes {
			h := openNode(t, node).NewHolder()
			t.Cleanup(func() { _ = h.Close() })
			got, err := h.TakeNames(t.Context(), []string{"endpoint"})
			if err != nil {
				t.Fatal(err)
			}
			taken += len(got)
		}
		if taken != 1 {
			t.Errorf("%d of %d replicas hold the same endpoint", taken, len(nodes))
		}
	})
}

// TestWorkersDoNotMigrate: only the coordinator of a Citus cluster changes the schema.
func TestWorkersDoNotMigrate(t *testing.T) {
	t.Run("postgres", func(t *testing.T) {
		if !storetest.IsCitus() {
			t.Skip("needs Citus: make test-citus")
		}
		nodes := storetest.Nodes(t, sqldbtest.NewAddress(t, sqldb.PostgreSQL, ""))
		for _, worker := range nodes[:len(nodes)-1] {
			_, err := store.Migrate(t.Context(), openNode(t, worker), storetest.Start)
			if !errors.Is(err, sqldb.ErrBehindCoordinator) {
				t.Errorf("a worker without tables: %v", err)
			}
		}
	})
}
