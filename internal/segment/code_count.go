package segment

import "math/bits"

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

func (s *step) readCount(p *page, at, n uint) (count, end uint) {
	word := load(p, at)
	high := uint(bits.TrailingZeros64(^word))
	if high >= longCount {
		width := uint(bits.Len(n))
		return uint(word>>longCount) & (1<<width - 1), at + longCount + width
	}
	width := countWidth(n)
	sign := high<<width | uint(word>>(high+1))&(1<<width-1)
	away := int(sign>>1) ^ -int(sign&1)
	return uint(int(n*uint(s.share)>>16) + away), at + high + 1 + width
}
