// Package order sorts lists of records.
//
// slices.SortFunc is compiled anew for each type of element: 18 kB of machine code for a struct of some fields. Here the
// sorting itself is compiled once and moves elements by reflection. A list that is long and sorted on a hot path is still
// better off with slices.
package order

import "sort"

// By sorts by what compare says, as cmp.Compare would. Records that compare alike may change places.
func By[T any](list []T, compare func(a, b *T) int) {
	sort.Slice(list, func(i, j int) bool { return compare(&list[i], &list[j]) < 0 })
}

// StableBy does the same, and records that compare alike stay as they stood.
func StableBy[T any](list []T, compare func(a, b *T) int) {
	sort.SliceStable(list, func(i, j int) bool { return compare(&list[i], &list[j]) < 0 })
}
