// Package difftest compares whole values in tests and prints what differs between them. It knows nothing of the
// product.
//
// A test that is about some fields of a large value copies the value and sets these fields to what they should be:
//
//	want := got
//	want.State, want.Reason = subject.RequestCompleted, ""
//	difftest.Check(t, "the request", got, want)
//
// The copy shares its slices, maps and what it points to with the value, so these are replaced as a whole and never
// changed in place.
package difftest

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// unexported has fields compared that only their package can name; times are compared by what they mean all the same.
var unexported = cmp.Exporter(func(reflect.Type) bool { return true })

// Check reports how a value differs from what it should be. what names the value.
func Check[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got, unexported); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// Must is Check for a value that the rest of the test relies on: it ends the test.
func Must[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got, unexported); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}
