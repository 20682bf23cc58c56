// Package polltest waits in tests for what another goroutine, process or browser brings about and gives no signal of.
//
// Until looks again and again until a condition holds. Tests of our own goroutines wait for a channel instead, or run
// in a bubble of testing/synctest: whatever this package waits for is outside of the test's process, or inside of a
// library. It knows nothing of the product.
package polltest

import (
	"fmt"
	"testing"
	"time"
)

const (
	// between is the time between two looks: short beside anything a test waits for, long beside a look.
	between = 5 * time.Millisecond
	// Patience is how long a condition is waited for. A test that passes never waits so long; one that fails is ended
	// by it on the slowest machine.
	Patience = 2 * time.Minute
)

// Until waits until the condition holds, and ends the test when it does not within Patience. what is what is waited
// for.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	Watch(t, func() (string, bool) { return what, holds() })
}

// Watch is Until for a condition that says what is still missing.
func Watch(t testing.TB, look func() (missing string, holds bool)) {
	t.Helper()
	if err := Await(Patience, look); err != nil {
		t.Fatal(err)
	}
}

// Await waits until the condition holds, at most so long; the error says what is still missing.
func Await(most time.Duration, look func() (missing string, holds bool)) error {
	tick := time.NewTicker(between)
	defer tick.Stop()
	for end := time.Now().Add(most); ; <-tick.C {
		missing, holds := look()
		if holds {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("waited %s in vain: %s", most, missing)
		}
	}
}
