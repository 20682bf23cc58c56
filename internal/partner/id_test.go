package partner

import (
	"math"
	"testing"
)

func TestIDsAndNumbersAreOne(t *testing.T) {
	seen := map[ID]bool{}
	for _, n := range []int64{1, 2, 3, 127, 128, 65_535, 1 << 20, math.MaxInt32} {
		id := NumberedID(n)
		if id.Number() != n || seen[id] || len(id) != 39 {
			t.Errorf("%d: %s is %d again", n, id, id.Number())
		}
		seen[id] = true
	}
}

// A text that differs from an ID in anything is not another spelling of it: rows are sealed for the ID as it is.
func TestNoOtherSpellingOfAnID(t *testing.T) {
	id := []byte(NumberedID(7))
	for i := range id {
		for _, c := range []byte("0aA-_") {
			other := append([]byte(nil), id...)
			if other[i] = c; c != id[i] && ID(other).Number() != nobody {
				t.Errorf("%s counts as %s", other, id)
			}
		}
	}
	if n := ID("").Number(); n != 0 {
		t.Errorf("no ID is partner %d", n)
	}
	for _, text := range []ID{"pt_", "pt_nobody", NumberedID(7) + "0", NumberedID(7)[3:]} {
		if n := text.Number(); n != nobody {
			t.Errorf("%q is partner %d", text, n)
		}
	}
}
