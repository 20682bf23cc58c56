package seal

import "testing"

// NewKeys makes a ring of its own for tests of another package.
func NewKeys(t testing.TB) *Keys { return fresh(t) }
