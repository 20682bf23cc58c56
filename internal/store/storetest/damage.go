package storetest

import (
	"context"
	"database/sql"
	"testing"
)

// WithoutReferences runs statements on a SQLite file as somebody would who goes around the program: references are not
// kept, rules are not asked.
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
