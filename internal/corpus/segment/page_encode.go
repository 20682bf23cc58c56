package segment

import (
	"encoding/binary"
	"sort"
)

// groupsFor returns the number of groups that keys up to offset need with l low bits.
func groupsFor(offset uint64, l uint) uint64 { return offset>>(l+slotBits) + 1 }

// fitsInPage reports whether n keys, the last at offset, fit in a page with l low bits beside so many bits of labels.
func fitsInPage(n int, offset uint64, l uint, labels uint64) bool {
	m := groupsFor(offset, l)
	if m > contentBits/slots {
		return false
	}
	return 8*(tableAt+2*(m+1))+slots*m+uint64(n)*uint64(l+1)+labels <= contentBits
}

// planPage finds how many of the sorted keys go into the next page and with how many low bits: the choice that takes
// most keys. guess is where to look first. labelBits is what the label of each key takes.
func planPage(keys []uint64, labelBits uint64, guess uint) (n int, l uint) {
	n, l = longestPrefix(keys, labelBits, guess), guess
	for _, dir := range []int{-1, 1} {
		for next := int(guess) + dir; next >= 0 && next <= maxLow; next += dir {
			got := longestPrefix(keys, labelBits, uint(next))
			if got < n {
				break
			}
			n, l = got, uint(next)
		}
	}
	return n, l
}

// longestPrefix returns how many of keys fit in one page with l low bits.
func longestPrefix(keys []uint64, labelBits uint64, l uint) int {
	most := min(len(keys), contentBits/int(l+1))
	return sort.Search(most, func(i int) bool { return !fitsInPage(i+1, keys[i]-keys[0], l, uint64(i+1)*labelBits) })
}

// encodePage writes keys, which plan has found to fit with l low bits, into p, and returns the bit position behind
// them.
func encodePage(p *page, keys []uint64, l uint) (end uint) {
	clear(p[:])
	first, last := keys[0], keys[len(keys)-1]
	m := uint(groupsFor(last-first, l))
	p[0] = byte(l)
	binary.LittleEndian.PutUint16(p[2:], uint16(m))
	at := (tableAt + 2*(m+1)) * 8
	done := 0
	for g := uint(0); g < m; g++ {
		end, upto := done, uint64(g+1)<<(l+slotBits)-1 // the last offset of the group
		for end < len(keys) && keys[end]-first <= upto {
			end++
		}
		encodeUpper(p, keys[done:end], first, at, l)
		low := at + slots + uint(end-done)
		encodeLow(p, keys[done:end], first, low, l)
		low += uint(end-done) * l
		at, done = low, end
		binary.LittleEndian.PutUint16(p[tableAt+2*(g+1):], uint16(done))
	}
	copy(p[pageContent:], pageMark)
	return at
}

// encodeUpper sets the bits of the upper part of a group at bit position at. Bits are gathered in a word before they
// are stored: a load of what was just stored in another shape makes the processor wait.
func encodeUpper(p *page, keys []uint64, first uint64, at, l uint) {
	word, bits := at>>6, uint64(0)
	for _, k := range keys {
		upper := at + uint((k-first)>>(l&63))&(slots-1) // l is below 64, which the compiler does not know
		if upper>>6 != word {
			setWordBits(p, word, bits)
			word, bits = upper>>6, 0
		}
		bits |= 1 << (upper & 63)
		at++
	}
	setWordBits(p, word, bits)
}

// setWordBits sets bits in the given word of eight bytes.
func setWordBits(p *page, word uint, bits uint64) {
	w := p[word*8:][:8]
	binary.LittleEndian.PutUint64(w, binary.LittleEndian.Uint64(w)|bits)
}

// encodeLow writes the low bits of a group from bit position at on, word by word. There is nothing in the page yet
// behind them; the mark comes last. Inlined it would run out of registers.
//
//go:noinline
func encodeLow(p *page, keys []uint64, first uint64, at, l uint) {
	mask := uint64(1)<<l - 1
	i, used := at>>6, at&63
	word := binary.LittleEndian.Uint64(p[i*8:])
	for _, k := range keys {
		low := (k - first) & mask
		word |= low << (used & 63)
		if used += l; used >= 64 {
			binary.LittleEndian.PutUint64(p[i*8:][:8], word)
			i, used = i+1, used-64
			word = low >> ((l - used) & 63) // l is below 64
		}
	}
	binary.LittleEndian.PutUint64(p[i*8:][:8], word)
}
