package segment

import (
	"encoding/binary"
	"math/bits"
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
