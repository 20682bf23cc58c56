package zstd

import (
	"encoding/binary"
	"math/bits"
)

// backward reads bits from the end of its data to the beginning, as Huffman and sequence streams are written. Beyond
// the beginning it reads zeros, and left says that it did.
type backward struct {
	data []byte
	pos  int    // bytes that were not taken yet
	acc  uint64 // the next bits, from the highest on
	n    int    // how many of acc count
}

// newBackward passes over the padding: the highest set bit of the last byte, and what is above it.
func newBackward(data []byte) (b backward, ok bool) {
	if len(data) == 0 || data[len(data)-1] == 0 {
		return b, false
	}
	b = backward{data: data, pos: len(data)}
	b.refill()
	b.skip(bits.LeadingZeros8(data[len(data)-1]) + 1)
	return b, true
}

// refill has at least 56 bits at hand, unless the data ends.
func (b *backward) refill() {
	if b.n < 0 {
		return
	}
	if b.pos >= 8 {
		v := binary.LittleEndian.Uint64(b.data[b.pos-8:])
		b.acc |= v >> uint(b.n) // bits of a byte that is not counted yet are the same when it is
		k := (64 - b.n) >> 3
		b.pos -= k
		b.n += k << 3
		return
	}
	for b.n <= 56 && b.pos > 0 {
		b.pos--
		b.acc |= uint64(b.data[b.pos]) << uint(56-b.n)
		b.n += 8
	}
}

func (b *backward) peek(k int) uint64 { return b.acc >> 1 >> uint(63-k) }

func (b *backward) skip(k int) {
	b.acc <<= uint(k)
	b.n -= k
}

// take reads up to 56 bits after a refill.
func (b *backward) take(k int) uint64 {
	v := b.peek(k)
	b.skip(k)
	return v
}

// left is how many bits remain; negative when more were read than there are.
func (b *backward) left() int { return b.n + 8*b.pos }

// forward reads bits from the lowest of the first byte on, as tables are described.
type forward struct {
	data []byte
	at   int // bits taken
}

func (f *forward) peek(k int) int {
	v := 0
	for i := range k {
		if at := f.at + i; at>>3 < len(f.data) {
			v |= int(f.data[at>>3]>>(at&7)&1) << i
		}
	}
	return v
}
