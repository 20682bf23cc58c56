package segment

import (
	"cmp"
	"unsafe"
)

// record is what is sorted: a key alone, or a key and the id of its label. They are arrays so that one text of the sort
// serves both, and reads a key without a call.
type record interface{ bare | labelled }

type (
	// bare is a key alone.
	bare [1]uint64
	// labelled is a key and the id of its label.
	labelled [2]uint64
)

// Entry is a key and the id of its label, in the Labels of a writer or in the table of a Reader.
type Entry struct {
	Key   uint64
	Label LabelID
}

// asRecords views keys as records, and keysOf records as keys: they are the same bytes.
func asRecords(keys []uint64) []bare {
	return unsafe.Slice((*bare)(unsafe.Pointer(unsafe.SliceData(keys))), len(keys)) //nolint:gosec // one number each
}

// asKeys undoes asRecords.
func asKeys(records []bare) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(records))), len(records)) //nolint:gosec // as above
}

// compareKeys orders records by their key alone.
func compareKeys[R record](a, b R) int { return cmp.Compare(a[0], b[0]) }

// sortedByKey is slices.IsSortedFunc without a call for each record.
func sortedByKey[R record](records []R) bool {
	for i := 1; i < len(records); i++ {
		if records[i][0] < records[i-1][0] {
			return false
		}
	}
	return true
}

// unite gives the label of a key that came with two. It is nil where there are no labels.
type unite func(a, b uint64) uint64

// dropRepeated drops repeated keys from sorted records. What lies between two of them is moved as a whole.
func dropRepeated[R record](records []R, unite unite) []R {
	n, from := 0, 0 // so many are in their places; those from there on are not
	for i := 1; i < len(records); i++ {
		if records[i][0] != records[i-1][0] {
			continue
		}
		n += copy(records[n:], records[from:i])
		if from = i + 1; unite != nil {
			records[n-1] = uniteRecords(records[n-1], records[i], unite)
		}
	}
	if from == 0 {
		return records
	}
	return records[:n+copy(records[n:], records[from:])]
}

// uniteRecords returns the record of two that have the same key.
func uniteRecords[R record](a, b R, unite unite) R {
	if last := len(a) - 1; a[last] != b[last] {
		a[last] = unite(a[last], b[last])
	}
	return a
}
