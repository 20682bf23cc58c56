package segment

import (
	"encoding/binary"
	"math/bits"
)

// decodePage appends the keys of a page to dst and checks its structure on the way: what it returns without an error is
// sorted, starts with first and is what pageFind would find.
func decodePage(dst []uint64, p *page, first uint64) ([]uint64, bool) {
	dst, end, ok := decodeKeys(dst, p, first)
	return dst, ok && zeroFrom(p, end)
}

// decodeKeys is decodePage for all but what follows the groups, and returns the bit position where that begins.
func decodeKeys(dst []uint64, p *page, first uint64) (_ []uint64, end uint, ok bool) {
	l := uint(p[0])
	m := uint(binary.LittleEndian.Uint16(p[2:]))
	if l > maxLow || p[1] != 0 || m == 0 || string(p[pageContent:]) != pageMark {
		return dst, 0, false
	}
	table := tableAt + 2*(m+1)
	if table > pageContent || binary.LittleEndian.Uint16(p[tableAt:]) != 0 {
		return dst, 0, false
	}
	at, before := table*8, uint(0)
	start := len(dst)
	for g := uint(0); g < m; g++ {
		next := uint(binary.LittleEndian.Uint16(p[tableAt+2*(g+1):]))
		if next < before || at+slots+(next-before)*(l+1) > contentBits {
			return dst, 0, false
		}
		if dst, ok = decodeGroup(dst, p, at, next-before, l, first+uint64(g)<<(l+slotBits)); !ok {
			return dst, 0, false
		}
		at += slots + (next-before)*(l+1)
		before = next
	}
	if len(dst) == start || dst[start] != first || before == uint(binary.LittleEndian.Uint16(p[tableAt+2*(m-1):])) {
		return dst, 0, false
	}
	for i := start + 1; i < len(dst); i++ {
		if dst[i] <= dst[i-1] {
			return dst, 0, false
		}
	}
	return dst, at, true
}

// decodeGroup appends the count keys of the group at bit position at; base is the smallest key the group could hold.
func decodeGroup(dst []uint64, p *page, at, count, l uint, base uint64) ([]uint64, bool) {
	low := at + slots + count
	mask := uint64(1)<<l - 1
	slot := uint64(0)
	for end := low; at < end; {
		n := min(end-at, 57)
		word := loadBits(p, at) & (1<<n - 1)
		for used := uint(0); used < n; {
			zeros := uint(bits.TrailingZeros64(word))
			if used+zeros >= n {
				slot += uint64(n - used)
				break
			}
			slot += uint64(zeros)
			if slot >= slots || count == 0 {
				return dst, false
			}
			dst = append(dst, base+slot<<l+loadBits(p, low)&mask)
			low += l
			count--
			used += zeros + 1
			word >>= zeros + 1
		}
		at += n
	}
	return dst, count == 0 && slot == slots
}

// zeroFrom reports whether all bits of the page from bit position at on are zero, as those behind the last key must be.
func zeroFrom(p *page, at uint) bool {
	for ; at&7 != 0; at++ {
		if p[at>>3]>>(at&7)&1 != 0 {
			return false
		}
	}
	for _, b := range p[at>>3 : pageContent] {
		if b != 0 {
			return false
		}
	}
	return true
}
