package subscription

import (
	"testing"
	"time"
)

// TestNextImport: transactions get smaller while they take long and larger while they do not, within bounds.
func TestNextImport(t *testing.T) {
	for _, c := range []struct {
		size int
		took time.Duration
		want int
	}{
		{100, longImport + 1, 50},
		{100, longImport, 100},
		{100, shortImport, 100},
		{100, shortImport - 1, 200},
		{leastImport, time.Hour, leastImport},
		{mostImport, 0, mostImport},
		{mostImport - 1, 0, mostImport},
	} {
		if got := nextImport(c.size, c.took); got != c.want {
			t.Errorf("%d after %v: %d, expected %d", c.size, c.took, got, c.want)
		}
	}
}
