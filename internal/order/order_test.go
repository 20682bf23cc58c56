package order_test

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/vigiahq/vigia/internal/order"
)

// TestSortsAsSlices: both sort as the standard library does, and StableBy leaves alike records as they stood.
func TestSortsAsSlices(t *testing.T) {
	type record struct {
		Key   int
		Place int
	}
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOf(rapid.IntRange(0, 9)).Draw(t, "keys")
		list := make([]record, len(keys))
		for i, k := range keys {
			list[i] = record{k, i}
		}
		want := slices.SortedStableFunc(slices.Values(list), func(a, b record) int { return a.Key - b.Key })
		stable := slices.Clone(list)
		if order.StableBy(stable, func(a, b *record) int { return a.Key - b.Key }); !slices.Equal(stable, want) {
			t.Fatal(stable, want)
		}
		order.By(list, func(a, b *record) int { return cmp.Or(a.Key-b.Key, a.Place-b.Place) })
		if !slices.Equal(list, want) {
			t.Fatal(list, want)
		}
	})
}
