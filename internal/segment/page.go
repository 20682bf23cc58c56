package segment

import (
	"encoding/binary"
	"math/bits"
	"sort"
)

// A page is 4096 bytes:
//
//	0     u8   l: low bits kept of each key
//	1     u8   zero
//	2     u16  m: number of groups
//	4     u16  start[0..m]: keys in the groups before group i; start[m] is the number of keys in the page
//	...        bits, low bit first: the groups one after the other, nothing between them
//	4088  8    mark
//
// Keys are stored as offsets from the page's first key, which the directory holds. Group i has the offsets whose bits
// above l+6 equal i. A group of c keys takes exactly 64+c*(l+1) bits, so where it begins follows from start[i] alone:
// first 64+c bits of Elias-Fano upper part (64 slots, a one for each key in a slot, a zero after each slot), then c
// times l low bits.
const (
	slotBits = 6
	slots    = 1 << slotBits
	// maxLow lets any low part be read with one 8-byte load from any bit position.
	maxLow      = 57
	pageContent = pageSize - 8
	contentBits = pageContent * 8
	// pageKeys bounds the keys of one page: slots at l=0 hold one key each and cost two bits.
	pageKeys = contentBits / 2
	tableAt  = 4
)

// pageMark ends every page. A file that is cut inside a page reads as zeros from the cut to the page's end, so a page
// whose mark is gone was cut after its checksum was found right.
const pageMark = "PAGEEND\xa5"

// page is one page of a file: a header, the compressed keys and, if there are any, their labels.
type page = [pageSize]byte

// loadBits returns the bits of p from bit position at on; at least 57 of them are valid.
func loadBits(p *page, at uint) uint64 {
	return binary.LittleEndian.Uint64(p[at>>3:]) >> (at & 7)
}

// pageHead is what a page says of itself: l, m and the number of its keys. It is never zero.
type pageHead uint64

// headMade is set in every head, so that none is zero.
const headMade = 1 << 63

// readPageHead reads the head of a page whose checksum was right.
func readPageHead(p *page) pageHead {
	m := uint(binary.LittleEndian.Uint16(p[2:]))
	n := uint64(binary.LittleEndian.Uint16(p[min(tableAt+2*m, pageContent):]))
	return pageHead(headMade | uint64(p[0]) | uint64(m)<<16 | n<<32)
}

// lowBits returns how many low bits of a key are stored as they are.
func (h pageHead) lowBits() uint { return uint(h & 63) }

// groupCount returns how many groups of high bits there are.
func (h pageHead) groupCount() uint { return uint(h >> 16 & 0xffff) }

// keyCount returns how many keys the page has.
func (h pageHead) keyCount() uint { return uint(h >> 32 & 0xffff) }

// groupsAt returns the bit position at which the groups begin.
func (h pageHead) groupsAt() uint { return (tableAt + 2*(h.groupCount()+1)) * 8 }

// labelsAt returns the bit position behind the groups.
func (h pageHead) labelsAt() uint {
	return h.groupsAt() + h.groupCount()*slots + h.keyCount()*(h.lowBits()+1)
}

// pageFind reports whether offset is in the page, and how many keys of the page are before one that was found. It must
// only be given pages whose checksum was right; on others it may panic with an index out of range, never worse.
func pageFind(p *page, head pageHead, offset uint64) (at uint, found bool) {
	l := head.lowBits()
	group := offset >> (l + slotBits)
	if group >= uint64(head.groupCount()) {
		return 0, false
	}
	entry := tableAt + 2*uint(group)
	before := uint(binary.LittleEndian.Uint16(p[entry:]))
	count := uint(binary.LittleEndian.Uint16(p[entry+2:])) - before
	if count == 0 {
		return 0, false
	}
	upper := head.groupsAt() + uint(group)*slots + before*(l+1)
	slot := uint(offset>>l) & (slots - 1)
	pos := slotStart(p, upper, slot)
	rank := pos - slot
	low := upper + slots + count + rank*l
	mask := uint64(1)<<l - 1
	want := offset & mask
	for {
		run := uint(bits.TrailingZeros64(^loadBits(p, upper+pos)))
		for j := uint(0); j < run; j++ {
			got := loadBits(p, low) & mask
			if got >= want {
				return before + rank + j, got == want
			}
			low += l
		}
		// Up to 57 bits of a load are valid: a longer run of ones goes on in the next load.
		if run < 57 {
			return 0, false
		}
		pos += run
		rank += run
	}
}

// slotStart returns the position, relative to upper, of the first bit of a slot: one past the zero that ends the slot
// before it.
func slotStart(p *page, upper, slot uint) uint {
	if slot == 0 {
		return 0
	}
	const step = 56
	left := slot - 1 // zeros to pass before the one we want
	for pos := uint(0); ; pos += step {
		zeros := ^loadBits(p, upper+pos) & (1<<step - 1)
		n := uint(bits.OnesCount64(zeros))
		if left < n {
			return pos + selectBit(zeros, left) + 1
		}
		left -= n
	}
}

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

// planPage finds how many of the sorted keys go into the next page and with how many low bits: the choice that takes most
// keys. guess is where to look first.
// labelBits is what the label of each key takes.
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

// encodePage writes keys, which plan has found to fit with l low bits, into p, and returns the bit position behind them.
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

// encodeLow writes the low bits of a group from bit position at on, word by word. There is nothing in the page yet behind
// them; the mark comes last. Inlined it would run out of registers.
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

const (
	everyByte = 0x0101010101010101
	highBits  = 0x8080808080808080
)

// selectInByte[b][k] is the position of the k-th set bit of b.
var selectInByte = func() (t [256][8]uint8) {
	for b := range t {
		k := 0
		for i := range 8 {
			if b>>i&1 == 1 {
				t[b][k] = uint8(i)
				k++
			}
		}
	}
	return t
}()

// selectBit returns the position of the k-th set bit of x, counted from 0. x must have more than k set bits.
func selectBit(x uint64, k uint) uint {
	// sums holds in each byte the number of set bits of x up to and including that byte.
	s := x - x>>1&0x5555555555555555
	s = s&0x3333333333333333 + s>>2&0x3333333333333333
	sums := (s + s>>4) & 0x0f0f0f0f0f0f0f0f * everyByte
	// The bytes whose sum is at most k lie before the wanted bit.
	byteAt := uint(bits.OnesCount64((uint64(k)*everyByte|highBits-sums)&highBits)) * 8
	return byteAt + uint(selectInByte[x>>byteAt&0xff][(k-uint(sums<<8>>byteAt)&0xff)&7])
}
