package segment

import (
	"encoding/binary"
	"math/bits"
)

// level is where the bits of one level of a page are.
type level struct {
	at   uint // bit position of its bits, or of the upper part of a sparse one
	n    uint // keys in it
	ones uint // of a sparse level
	next uint // keys in the next level
	end  uint // bit position behind it
}

// level finds level d, which begins at bit position at and has n keys.
func (c *code) level(p *page, d int, at, n uint) level {
	v := level{n: n, next: n}
	if c.counted(d) {
		v.next, at = c.readCount(p, d, at, n)
	}
	v.at = at
	if low := c.low[d]; low != plainLevel {
		v.ones = v.next
		v.end = at + v.ones + n>>uint(low) + 1 + v.ones*uint(low)
	} else {
		v.end = at + n
	}
	if d+1 == c.depth {
		v.next = 0
	}
	return v
}

// lookUp returns the place in the table of the label of key r of a page with n keys, whose labels begin at bit position
// at. Like pageFind it must only be given pages whose checksum was right.
func (c *code) lookUp(p *page, at, n, r uint) uint32 {
	from, to, word := uint(0), n, uint32(0) // the node, and the code so far
	for d := 0; d < c.depth; d++ {
		v := c.level(p, d, at, n)
		var one bool
		if low := c.low[d]; low != plainLevel {
			if one, r = v.find(p, uint(low), r); one {
				from, to = 0, v.ones
			} else {
				r, from, to = 0, 0, 1 // the one label that ends here, or one of two
			}
			if word <<= 1; one {
				word++
			}
			if !one || d+1 == c.depth {
				return c.firstPlace[d+1] + word - c.firstCode[d+1]
			}
		} else {
			before, all := countOnes(p, v.at+from, v.at+r), uint(0)
			one = load(p, v.at+r)&1 == 1
			all = before + countOnes(p, v.at+r, v.at+to)
			zeros := to - from - all
			if word <<= 1; one {
				word++
				r, from = from+zeros+before, from+zeros
			} else {
				r, to = r-before, from+zeros
			}
			if word < c.firstCode[d+1]+c.leaves[d+1] {
				return c.firstPlace[d+1] + word - c.firstCode[d+1]
			}
			ended := n - v.next
			r, from, to = r-ended, from-ended, to-ended
		}
		at, n = v.end, v.next
	}
	return 0
}

// find says whether key r of a sparse level has a one, and how many keys before it have.
func (v *level) find(p *page, low, r uint) (one bool, before uint) {
	slot := r >> low
	pos := slotStart(p, v.at, slot)
	before = pos - slot
	mask := uint64(1)<<low - 1
	lows := v.at + v.ones + v.n>>low + 1
	for ; load(p, v.at+pos)&1 == 1; pos++ {
		got := load(p, lows+before*low) & mask
		if got >= uint64(r)&mask {
			return got == uint64(r)&mask, before
		}
		before++
	}
	return false, before
}

// A count is written as its distance from what is to be expected of so many keys: its sign and size as one number, of
// which the higher part is so many ones and a zero, and the lower part bits. longCount ones say that the count itself
// follows.
const longCount = 16

// countCode splits the distance of a count from what is expected of n keys.
func (c *code) countCode(d int, n, count uint) (high uint, low uint64, width uint) {
	away := int(count) - int(c.expected(d, n))
	sign := uint(away<<1 ^ away>>63)
	width = countWidth(n)
	return sign >> width, uint64(sign) & (1<<width - 1), width
}

func (c *code) expected(d int, n uint) uint { return n * uint(c.share[d]) >> 16 }

// countWidth is about as many bits as the distance usually has, which is as the root of the number.
func countWidth(n uint) uint { return uint(max(bits.Len(n)/2-2, 0)) }

// countSize is how many bits putCount writes.
func (c *code) countSize(d int, n, count uint) uint {
	high, _, width := c.countCode(d, n, count)
	if high >= longCount {
		return longCount + uint(bits.Len(n))
	}
	return high + 1 + width
}

func (c *code) putCount(p *page, d int, at, n, count uint) uint {
	high, low, width := c.countCode(d, n, count)
	if high >= longCount {
		putBits(p, at, 1<<longCount-1|uint64(count)<<longCount, longCount+uint(bits.Len(n)))
	} else {
		putBits(p, at, 1<<high-1|low<<(high+1), high+1+width)
	}
	return at + c.countSize(d, n, count)
}

func (c *code) readCount(p *page, d int, at, n uint) (count, end uint) {
	word := load(p, at)
	high := uint(bits.TrailingZeros64(^word))
	if high >= longCount {
		width := uint(bits.Len(n))
		return uint(word>>longCount) & (1<<width - 1), at + longCount + width
	}
	width := countWidth(n)
	sign := high<<width | uint(word>>(high+1))&(1<<width-1)
	away := int(sign>>1) ^ -int(sign&1)
	return uint(int(c.expected(d, n)) + away), at + high + 1 + width
}

// countOnes counts the ones from one bit position to another.
func countOnes(p *page, from, to uint) uint {
	if from >= to {
		return 0
	}
	first, last := from>>6, (to-1)>>6
	word := binary.LittleEndian.Uint64(p[first*8:]) &^ (1<<(from&63) - 1)
	n := 0
	for i := first; i < last; i++ {
		n += bits.OnesCount64(word)
		word = binary.LittleEndian.Uint64(p[i*8+8:])
	}
	return uint(n + bits.OnesCount64(word&(^uint64(0)>>(63-(to-1)&63))))
}

// putBits writes the low bits of v, of which there are at most 56, at bit position at, where there are zeros.
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

// bough is a key on its way down the code: how many bits its code has, and which.
type bough struct {
	code   uint32
	length uint8
}

func (b bough) bit(d int) uint { return uint(b.code>>(int(b.length)-1-d)) & 1 }

// encode writes the labels of a page at bit position at and returns the position behind them.
func (c *code) encode(p *page, at uint, labels []uint32) uint {
	keys, spare := make([]bough, len(labels)), make([]bough, len(labels))
	for i, l := range labels {
		keys[i] = c.boughOf(l)
	}
	for d := 0; d < c.depth && len(keys) > 0; d++ {
		rest := descend(spare[:len(keys)], keys, d)
		if c.counted(d) {
			count := uint(len(rest))
			if d+1 == c.depth {
				count = onesOf(keys, d)
			}
			at = c.putCount(p, d, at, uint(len(keys)), count)
		}
		if low := c.low[d]; low != plainLevel {
			at = putSparse(p, at, keys, d, uint(low))
		} else {
			at = putPlain(p, at, keys, d)
		}
		spare, keys = keys[:cap(keys)], rest
	}
	return at
}

func (c *code) boughOf(place uint32) bough {
	l := c.length(place)
	return bough{c.firstCode[l] + place - c.firstPlace[l], uint8(l)}
}

// length is how many bits the code of a label has.
func (c *code) length(place uint32) int {
	for l := 1; l < c.depth; l++ {
		if place < c.firstPlace[l]+c.leaves[l] {
			return l
		}
	}
	return c.depth
}

// descend puts those of keys that go on below level d into dst, in the order of the next level: node by node, zeros
// first. Those that end come first in that order, and are left out.
func descend(dst, keys []bough, d int) []bough {
	n := 0
	for from := 0; from < len(keys); {
		node := keys[from].code >> (int(keys[from].length) - d)
		to := from
		for to < len(keys) && keys[to].code>>(int(keys[to].length)-d) == node {
			to++
		}
		for bit := range uint(2) {
			for _, k := range keys[from:to] {
				if k.bit(d) == bit && int(k.length) > d+1 {
					dst[n] = k
					n++
				}
			}
		}
		from = to
	}
	return dst[:n]
}

func onesOf(keys []bough, d int) (n uint) {
	for _, k := range keys {
		n += k.bit(d)
	}
	return n
}

func putPlain(p *page, at uint, keys []bough, d int) uint {
	for i, k := range keys {
		if k.bit(d) == 1 {
			setBits(p, (at+uint(i))>>6, 1<<((at+uint(i))&63))
		}
	}
	return at + uint(len(keys))
}

func putSparse(p *page, at uint, keys []bough, d int, low uint) uint {
	n, ones := uint(len(keys)), onesOf(keys, d)
	lows, done := at+ones+n>>low+1, uint(0)
	for i, k := range keys {
		if k.bit(d) == 1 {
			upper := at + done + uint(i)>>low
			setBits(p, upper>>6, 1<<(upper&63))
			putBits(p, lows+done*low, uint64(i)&(1<<low-1), low)
			done++
		}
	}
	return lows + ones*low
}

// decode appends the places of the labels of a page with n keys to dst and returns the bit position behind them. It
// checks everything on the way: what it returns without an error is what lookUp would find.
func (c *code) decode(dst []uint32, p *page, at, n uint) (_ []uint32, end uint, ok bool) {
	start := len(dst)
	for range n {
		dst = append(dst, 0)
	}
	d := decoding{code: c, page: p, places: dst[start:], keys: make([]uint32, n), spare: make([]uint32, n)}
	for i := range d.keys {
		d.keys[i] = uint32(i)
	}
	d.nodes = []node{{0, n}}
	for depth := 0; depth < c.depth && len(d.keys) > 0; depth++ {
		if at, ok = d.level(depth, at); !ok {
			return dst, at, false
		}
	}
	return dst, at, at <= contentBits
}

// decoding is a page whose labels are being read level by level.
type decoding struct {
	*code
	*page
	places      []uint32 // what is found
	keys, spare []uint32 // of the level, in its order
	nodes       []node
}

// node is a code of which there are keys.
type node struct {
	code uint32
	n    uint
}

// level reads level d at bit position at.
func (d *decoding) level(depth int, at uint) (end uint, ok bool) {
	n := uint(len(d.keys))
	if at > contentBits {
		return 0, false
	}
	v := d.code.level(d.page, depth, at, n)
	if v.end > contentBits || v.ones > n || v.next > n {
		return 0, false
	}
	ones, ok := v.bits(d.page, d.low[depth])
	if !ok {
		return 0, false
	}
	next, went, from := d.spare[:0], d.nodes[:0:0], uint(0)
	for _, above := range d.nodes {
		for bit := range uint32(2) {
			word, had := above.code<<1|bit, len(next)
			leaf := word < d.firstCode[depth+1]+d.leaves[depth+1]
			for i := from; i < from+above.n; i++ {
				if ones[i>>6]>>(i&63)&1 != uint64(bit) {
					continue
				}
				if leaf {
					d.places[d.keys[i]] = d.firstPlace[depth+1] + word - d.firstCode[depth+1]
				} else {
					next = append(next, d.keys[i])
				}
			}
			if k := uint(len(next) - had); k > 0 {
				went = append(went, node{word, k})
			}
		}
		from += above.n
	}
	if uint(len(next)) != v.next {
		return 0, false
	}
	d.spare, d.keys, d.nodes = d.keys[:0], next, went
	return v.end, true
}

// bits returns the bits of a level as a bitmap.
func (v *level) bits(p *page, low int) (ones []uint64, ok bool) {
	ones = make([]uint64, v.n/64+1)
	if low == plainLevel {
		for i := range v.n {
			ones[i>>6] |= load(p, v.at+i) & 1 << (i & 63)
		}
		return ones, true
	}
	slot, found, last := uint(0), uint(0), -1
	lows := v.at + v.ones + v.n>>uint(low) + 1
	for at := v.at; at < lows; at++ {
		if load(p, at)&1 == 0 {
			slot++
			continue
		}
		i := slot<<uint(low) | uint(load(p, lows+found*uint(low))&(1<<uint(low)-1))
		if found++; i >= v.n || int(i) <= last || found > v.ones {
			return nil, false
		}
		last = int(i)
		ones[i>>6] |= 1 << (i & 63)
	}
	return ones, found == v.ones
}
