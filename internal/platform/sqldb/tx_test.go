package sqldb

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestRepeats: what the engine asks to be repeated is, and nothing else.
func TestRepeats(t *testing.T) {
	ctx := context.Background()
	d, err := OpenDatabase(ctx, filepath.Join(t.TempDir(), "vigia.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	for code, want := range map[string]int{
		"40001": 2, // serialisation failure
		"40P01": 2, // deadlock
		"40000": 1, // rolled back for another reason
		"23505": 1, // unique violation
		"57P01": 1, // server going down: nobody knows whether it was kept
	} {
		runs := 0
		err := d.InTransaction(ctx, func(*Tx) error {
			if runs++; runs == 1 {
				return fmt.Errorf("insert: %w", &pgconn.PgError{Code: code})
			}
			return nil
		})
		if runs != want || (err == nil) != (want > 1) {
			t.Errorf("%s: ran %d times, want %d (%v)", code, runs, want, err)
		}
	}
	runs := 0
	err = d.InTransaction(ctx, func(*Tx) error { runs++; return &pgconn.PgError{Code: "40001"} })
	if err == nil || runs != maxTries {
		t.Errorf("a conflict without end: %d runs, %v", runs, err)
	}
}
