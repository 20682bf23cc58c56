package segment

import (
	"math/bits"
	"slices"
)

// Digits of the two passes: the first cuts millions of keys into pieces that fit the fastest cache, the second cuts a
// piece into about as many places as it has keys. Keys are evenly spread as a rule, so that little is left to do after
// that.
const (
	coarseDigit = 11
	fineDigit   = 13
	// A piece of fewer keys is sorted by insertion; one of more is cut again.
	fewKeys  = 32
	manyKeys = 1 << 15
)

// sortKeys sorts keys that agree above the given number of bits by radix, most significant digit first; scratch is at
// least as long as keys. For millions of evenly spread keys it takes half the time of a radix sort from the other end,
// whose passes all go through slow memory.
func sortKeys[R record](keys, scratch []R, width uint) {
	if width < coarseDigit || len(keys) < fewKeys {
		slices.SortFunc(keys, compareKeys[R])
		return
	}
	start := scatterByDigit(scratch, keys, width, coarseDigit)
	width -= coarseDigit
	var places fineDigits
	for d := range 1 << coarseDigit {
		sortPiece(keys[start[d]:start[d+1]], scratch[start[d]:start[d+1]], width, &places)
	}
}

// scatterByDigit copies keys, which agree above the given number of bits, into dst, ordered by the digit below that,
// which has no more bits than the coarse one. It returns where each digit begins and, last, the number of keys.
func scatterByDigit[R record](dst, keys []R, width, digit uint) (start []uint32) {
	// Places of the coarse digit, however few are needed, and shifts below 64: nothing is left to be checked for each
	// key.
	var at [1 << coarseDigit]uint32
	const within = 1<<coarseDigit - 1
	shift, mask := width-digit, uint64(1)<<digit-1
	for i := range keys {
		at[keys[i][0]>>(shift&63)&mask&within]++
	}
	start = make([]uint32, 1<<digit+1)
	sum := uint32(0)
	for d := range start[:1<<digit] {
		n := at[d&within]
		start[d], at[d&within] = sum, sum
		sum += n
	}
	start[1<<digit] = sum
	for i := range keys {
		d := keys[i][0] >> (shift & 63) & mask & within
		dst[at[d]] = keys[i]
		at[d]++
	}
	return start
}

// fineDigits is room for where each digit of a piece begins.
type fineDigits [1<<fineDigit + 1]uint32

// sortPiece sorts from into to; all keys agree above the given number of bits. from is of no use afterwards.
func sortPiece[R record](to, from []R, width uint, places *fineDigits) {
	if len(from) < fewKeys || width < fineDigit {
		copy(to, from)
		sortLeft(to, len(from) >= fewKeys)
		return
	}
	if len(from) > manyKeys {
		copy(to, from)
		sortKeys(to, from, width)
		return
	}
	digit := min(fineDigit, uint(bits.Len(uint(len(from)))))
	at, shift, mask := places[:1<<digit+1], width-digit, uint64(1)<<digit-1
	clear(at)
	for i := range from {
		at[from[i][0]>>(shift&63)&mask+1]++
	}
	most := uint32(0)
	for d := 1; d < len(at); d++ {
		most = max(most, at[d])
		at[d] += at[d-1]
	}
	for i := range from {
		d := from[i][0] >> (shift & 63) & mask
		to[at[d]] = from[i]
		at[d]++
	}
	sortLeft(to, most > fewKeys)
}

// sortLeft ends the sort: by insertion where keys are near their places, by comparison where they may not be.
func sortLeft[R record](keys []R, far bool) {
	if far {
		slices.SortFunc(keys, compareKeys[R])
		return
	}
	before := uint64(0)
	for i := range keys {
		if keys[i][0] >= before { // most are in their places
			before = keys[i][0]
			continue
		}
		k := keys[i]
		for ; i > 0 && keys[i-1][0] > k[0]; i-- {
			keys[i] = keys[i-1]
		}
		keys[i] = k
	}
}
