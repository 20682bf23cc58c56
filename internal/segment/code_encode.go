package segment

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

// encode writes the labels of a page at bit position at.
func (c *code) encode(p *page, at uint, labels []uint32) {
	keys, spare := make([]bough, len(labels)), make([]bough, len(labels))
	for i, l := range labels {
		keys[i] = c.boughOf(l >> c.suffix)
		putBits(p, at+uint(i)*c.suffix, uint64(l)&(1<<c.suffix-1), c.suffix)
	}
	at += uint(len(labels)) * c.suffix
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
}

func (c *code) boughOf(group uint32) bough {
	l := c.length(group)
	return bough{c.firstCode[l] + group - c.firstPlace[l], uint8(l)}
}

// length is how many bits the code of a group has.
func (c *code) length(group uint32) int {
	for l := 1; l < c.depth; l++ {
		if group < c.firstPlace[l]+c.leaves[l] {
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
