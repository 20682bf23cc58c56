package segment

import (
	"context"
	"math/bits"
	"slices"
)

// Overlap is what a segment has in common with others.
type Overlap struct {
	Any  uint64   // keys that at least one of the others has
	Each []uint64 // keys that each of the others has, in their order
}

// CompareWith counts exactly how many keys of r are in each of the others and in any of them. It reads r page by page and
// walks along in the others: one that has not many more keys is decoded, in a larger one the keys are looked up.
func (r *Reader) CompareWith(ctx context.Context, others []*Reader) (Overlap, error) {
	result := Overlap{Each: make([]uint64, len(others))}
	walks := make([]walker, len(others))
	for i, o := range others {
		if o.width != r.width {
			return result, ErrOption.Note("a segment of keys of another width")
		}
		walks[i] = walker{Reader: o, decoded: o.Count() < decodeUpTo*max(r.Count(), 1)}
	}
	if len(others) == 0 {
		return result, ctx.Err() // of the first breach nothing has to be read
	}
	var keys, common []uint64
	var known []bool
	for page := range r.dir.first {
		if err := ctx.Err(); err != nil {
			return result, err
		}
		var err error
		if keys, err = r.decodePage(keys[:0], page); err != nil {
			return result, err
		}
		if known == nil || cap(known) < len(keys) {
			known = make([]bool, 2*len(keys))
		}
		known = known[:len(keys)]
		clear(known)
		for i := range walks {
			if common, err = walks[i].appendCommon(common[:0], keys); err != nil {
				return result, err
			}
			result.Each[i] += uint64(len(common))
			markKnown(known, keys, common)
		}
		for _, k := range known {
			if k {
				result.Any++
			}
		}
	}
	return result, nil
}

// decodeUpTo is how many times as many keys a segment may have for decoding all of it to be less work than looking up
// some.
const decodeUpTo = 12

// walker goes through a segment beside another.
type walker struct {
	*Reader
	decoded bool
	next    int // page to decode next
	keys    []uint64
	rest    []uint64 // of the decoded page, not yet passed
}

// appendCommon appends those of keys, which rise from call to call, that the segment has.
func (w *walker) appendCommon(dst, keys []uint64) ([]uint64, error) {
	if !w.decoded {
		return w.Intersect(dst, keys)
	}
	first, last := keys[0], keys[len(keys)-1]
	for {
		dst, w.rest = intersect(dst, keys, w.rest)
		if len(w.rest) > 0 || w.next == len(w.dir.first) || w.dir.first[w.next] > last {
			return dst, nil
		}
		if at := w.locatePage(first); at > w.next { // pages before it have none of these
			w.next = at
		}
		var err error
		if w.keys, err = w.decodePage(w.keys[:0], w.next); err != nil {
			return dst, err
		}
		w.rest = w.keys
		w.next++
	}
}

// sparse is how many times fewer keys there are for each of them to be searched for.
const sparse = 16

// intersect appends what a and b have in common, and returns what of b is above all of a. Which of two keys is less is
// not a guess: see union.
func intersect(dst, a, b []uint64) (_, rest []uint64) {
	n, _ := slices.BinarySearch(b, a[len(a)-1])
	if n < len(a)/sparse {
		for n < len(b) && b[n] == a[len(a)-1] {
			n++
		}
		for _, k := range b[:n] {
			at, found := slices.BinarySearch(a, k)
			if found {
				dst = append(dst, k)
			}
			a = a[at:]
		}
		return dst, b[n:]
	}
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		x, y := a[i], b[j]
		if x == y {
			dst = append(dst, x)
		}
		_, less := bits.Sub64(x, y, 0)
		_, more := bits.Sub64(y, x, 0)
		i += int(1 - more)
		j += int(1 - less)
	}
	return dst, b[j:]
}

// markKnown notes which of keys are among some of them.
func markKnown(known []bool, keys, some []uint64) {
	few := len(some) < len(keys)/sparse
	i := 0
	for _, k := range some {
		if few {
			at, _ := slices.BinarySearch(keys[i:], k)
			i += at
		}
		for keys[i] != k {
			i++
		}
		known[i] = true
	}
}
