package segment

import "math/bits"

// putBits writes the low bits of v, of which there are at most 64 and no others, at bit position at, where there are
// zeros.
func putBits(p *page, at uint, v uint64, n uint) {
	if n == 0 {
		return
	}
	word, shift := at>>6, at&63
	setBits(p, word, v<<shift)
	if shift+n > 64 {
		setBits(p, word+1, v>>(64-shift))
	}
}

// bough is a key on its way down the code: the bits of its code, the first one highest, and below them how many.
type bough uint32

const boughBits = 32

func makeBough(code uint32, length int) bough { return bough(code<<(boughBits-length)) | bough(length) }

func (b bough) length() int { return int(b & 0xff) }

// encoder writes the labels of pages. It has the room that this takes.
type encoder struct {
	*code
	keys, spare, ones []bough
	bits              []uint64 // of a level
}

// encode writes the labels of a page at bit position at.
func (e *encoder) encode(p *page, at uint, labels []uint32) {
	if len(e.keys) < len(labels)+wordKeys {
		n := len(labels) + pageKeys/16 + wordKeys
		e.keys, e.spare, e.ones, e.bits = make([]bough, n), make([]bough, n), make([]bough, n), make([]uint64, n/64+1)
	}
	keys, spare := e.keys[:len(labels)], e.spare
	for i, l := range labels {
		keys[i] = e.boughs[l>>e.suffix]
	}
	at = putRests(p, at, labels, e.suffix)
	for d := 0; d < e.depth && len(keys) > 0; d++ {
		rest := e.descend(spare[:len(keys)+wordKeys], keys, uint(d))
		n, ones := uint(len(keys)), e.bits[:(len(keys)+63)/64]
		count := uint(len(rest))
		if d+1 == e.depth {
			count = onesOf(ones)
		}
		if e.counted(d) {
			at = e.putCount(p, d, at, n, count)
		}
		if low := e.low[d]; low != plainLevel {
			at = putSparse(p, at, ones, n, uint(low))
		} else {
			at = putPlain(p, at, ones, n)
		}
		spare, keys = keys[:cap(keys)], rest
	}
}

// putRests writes what of each label is no part of its group.
func putRests(p *page, at uint, labels []uint32, suffix uint) uint {
	if suffix == 0 {
		return at
	}
	mask := uint32(1)<<suffix - 1
	for each := int(64 / suffix); len(labels) > 0; {
		n := min(len(labels), each)
		word := uint64(0)
		for i, l := range labels[:n] {
			word |= uint64(l&mask) << (uint(i) * suffix)
		}
		putBits(p, at, word, uint(n)*suffix)
		at, labels = at+uint(n)*suffix, labels[n:]
	}
	return at
}

// descend notes the bits that level d has, and puts those of keys that go on below it into dst, in the order of the next
// level: node by node, zeros first. Those that end come first in that order, and are left out. Each key is written to
// both sides and counts on one: which it is cannot be guessed. dst and e.ones have room for a word's keys more than
// there are.
func (e *encoder) descend(dst, keys []bough, d uint) []bough {
	n, leafEnd := 0, e.steps[d].leafEnd
	for i := 0; i < len(keys); {
		node := keys[i] >> (boughBits - d)
		z, o := n, 0
		for i < len(keys) {
			at, to := i, min(len(keys), i&^63+64)
			word, count, ones := splitWord((*[wordKeys]bough)(dst[z:]), (*[wordKeys]bough)(e.ones[o:]), keys[i:to], boughBits-1-d)
			i, z, o = i+count, z+count-ones, o+ones
			if at&63 == 0 {
				e.bits[at>>6] = 0
			}
			e.bits[at>>6] |= word << (uint(at) & 63)
			if i < to || i < len(keys) && keys[i]>>(boughBits-d) != node {
				break
			}
		}
		if uint32(node)<<1 >= leafEnd {
			n = z
		}
		if uint32(node)<<1|1 >= leafEnd {
			n += copy(dst[n:], e.ones[:o])
		}
	}
	return dst[:n]
}

// splitWord is descend for the keys, at most a word's, that are of the same node as the first, of which there are count.
// Inlined it would run out of registers.
//
//go:noinline
func splitWord(zeros, ones *[wordKeys]bough, keys []bough, shift uint) (word uint64, count, set int) {
	node := keys[0] >> (shift & 31) >> 1
	for i, k := range keys {
		path := k >> (shift & 31)
		if path>>1 != node {
			keys = keys[:i]
			break
		}
		zeros[uint(i-set)%wordKeys], ones[uint(set)%wordKeys] = k, k
		word = word>>1 | uint64(path)<<63
		set += int(path & 1)
	}
	return word >> (uint(64-len(keys)) & 63), len(keys), set
}

// wordKeys is how many keys have their bits of a level in one word.
const wordKeys = 64

func onesOf(words []uint64) (n uint) {
	for _, w := range words {
		n += uint(bits.OnesCount64(w))
	}
	return n
}

func putPlain(p *page, at uint, words []uint64, n uint) uint {
	for i, w := range words {
		putBits(p, at+uint(i)*64, w, min(64, n-uint(i)*64))
	}
	return at + n
}

func putSparse(p *page, at uint, words []uint64, n, low uint) uint {
	ones := onesOf(words)
	lows, done := at+ones+n>>low+1, uint(0)
	for i, w := range words {
		for ; w != 0; w &= w - 1 {
			place := uint(i)*64 + uint(bits.TrailingZeros64(w))
			upper := at + done + place>>low
			setBits(p, upper>>6, 1<<(upper&63))
			putBits(p, lows+done*low, uint64(place)&(1<<low-1), low)
			done++
		}
	}
	return lows + ones*low
}
