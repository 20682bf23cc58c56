package sqldb

import (
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/vigiahq/vigia/internal/platform/polltest"
)

// TestSingleWritesGoBeforeTheNextBulk: a single write that waits for a bulk goes before all bulks that wait too, and
// bulks are not starved by single writes.
func TestSingleWritesGoBeforeTheNextBulk(t *testing.T) {
	d, err := OpenDatabase(t.Context(), filepath.Join(t.TempDir(), "t.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	var mu sync.Mutex
	var order []string
	note := func(name string) func(*Tx) error {
		return func(*Tx) error {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, name)
			return nil
		}
	}
	var all sync.WaitGroup
	// begin starts a write and returns once it waits in its queue.
	begin := func(isBulk bool, work func(*Tx) error) {
		run, before := d.InTransaction, d.writers.countWaiting()
		if isBulk {
			run = d.InBulkTx
		}
		all.Go(func() {
			if err := run(t.Context(), work); err != nil {
				t.Error(err)
			}
		})
		polltest.Until(t, "the writer waits", func() bool { return d.writers.countWaiting() != before })
	}
	check := func(want ...string) {
		t.Helper()
		all.Wait()
		if !slices.Equal(order, want) {
			t.Errorf("%q instead of %q", order, want)
		}
		order = nil
	}
	err = d.InBulkTx(t.Context(), func(*Tx) error {
		begin(true, note("bulk"))
		begin(true, note("bulk"))
		begin(false, note("single"))
		begin(false, note("single"))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	check("single", "single", "bulk", "bulk")
	err = d.InTransaction(t.Context(), func(*Tx) error {
		begin(false, note("single"))
		begin(true, note("bulk"))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	check("bulk", "single")
}

func (q *writers) countWaiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting) + len(q.bulks)
}
