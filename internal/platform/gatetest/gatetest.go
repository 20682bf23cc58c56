// Package gatetest leaves tests that need more than Go to `make gate`: a browser, a database server, other languages,
// whole processes of the program. `make test` and a plain `go test` skip them by name, so that a newcomer needs nothing
// and waits for nothing; the gate sets VIGIA_TEST_GATE, and there a missing component fails. It knows nothing of the
// product.
package gatetest

import (
	"os"
	"testing"
)

// What tests need beyond Go.
const (
	Browser    = "a browser"
	Clients    = "clients as partners install them"
	PostgreSQL = "PostgreSQL"
	Processes  = "whole services and processes"
	Programs   = "programs of other projects"
)

// IsGate reports whether everything has to run.
func IsGate() bool { return os.Getenv("VIGIA_TEST_GATE") != "" }

// Needs skips a test outside of the gate.
func Needs(t testing.TB, what string) {
	t.Helper()
	if !IsGate() {
		t.Skip("left to make gate: " + what)
	}
}

// HasPostgres reports whether tests on PostgreSQL are to be run: in the gate, and by hand under scripts/with-postgres.
func HasPostgres() bool { return os.Getenv(postgresVariable) != "" || IsGate() }

// Postgres returns the address of the test server, as its administrator.
func Postgres(t testing.TB) string {
	t.Helper()
	if !HasPostgres() {
		Needs(t, PostgreSQL)
	}
	address := os.Getenv(postgresVariable)
	if address == "" {
		t.Fatal(postgresVariable + " is not set: run the tests with 'make gate', or under scripts/with-postgres")
	}
	return address
}

const postgresVariable = "VIGIA_TEST_POSTGRES"
