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
	Processes  = "whole processes"
	Programs   = "programs of other projects"
	Time       = "more time than a newcomer has"
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
