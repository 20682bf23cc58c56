package segment

import (
	"encoding/binary"
	"math/bits"
)

// level is where the bits of one level of a page are.
type level struct {
	at   uint // bit position of its bits, or of the upper part of a sparse one
	n    uint // keys in it
	next uint // keys in the next level; of a sparse level, how many ones it has
	end  uint // bit position behind it
}

// level finds a level, which begins at bit position at and has n keys.
func (s *step) level(p *page, at, n uint) level {
	v := level{at: at, n: n, next: n}
	if s.counted {
		v.next, v.at = s.readCount(p, at, n)
	}
	if v.end = v.at + n; s.low != plainLevel {
		v.end = v.at + v.next + n>>uint(s.low) + 1 + v.next*uint(s.low)
	}
	return v
}

// lookUp returns the place in the table of the label of key r of a page with n keys, whose labels begin at bit position
// at. Like pageFind it must only be given pages whose checksum was right.
func (c *code) lookUp(p *page, at, n, r uint) uint32 {
	return c.group(p, at+n*c.suffix, n, r)<<c.suffix | c.rest(p, at, r)
}

// rest is what of the place is no part of the group.
func (c *code) rest(p *page, at, r uint) uint32 {
	return uint32(load(p, at+r*c.suffix)) & (1<<c.suffix - 1)
}

// group is the group of key r; the levels begin at bit position at.
func (c *code) group(p *page, at, n, r uint) uint32 {
	from, to, word := uint(0), n, uint32(0) // the node, and the code so far
	for d := 0; d < c.depth; d++ {
		s := &c.steps[d]
		v := s.level(p, at, n)
		at, n = v.end, v.next
		if s.low != plainLevel {
			var one uint32
			if one, r = v.find(p, uint(s.low), r); word<<1|one < s.leafEnd {
				return s.place + (word<<1 | one)
			}
			from, to, word = 0, v.next, word<<1|one
			continue
		}
		one := uint(load(p, v.at+r) & 1)
		if word = word<<1 | uint32(one); word < s.leafEnd {
			return s.place + word
		}
		if s.single {
			from, to, r = 0, v.next, v.onesBefore(p, r)
			continue
		}
		before := countOnes(p, v.at+from, v.at+r)
		all := before + countOnes(p, v.at+r, v.at+to)
		from, to, r = v.descend(from, to, r, before, all, one)
	}
	return 0
}

// descend returns where, in the level below, a node's child is, and key r in it. Of the keys of the node so many before r
// and so many in all have a one; r itself has the bit one.
func (v *level) descend(from, to, r, before, all, one uint) (uint, uint, uint) {
	ended := v.n - v.next
	from, to, r = from-ended, to-ended, r-ended-before
	// Without a branch, which would be a guess: to the left if the bit is zero, else to the right.
	left, border := one-1, to-all
	right := ^left
	return from&left | border&right, border&left | to&right, r&left | (border+before)&right
}

// pageLabels is a page whose levels were found and whose ones were counted, for who looks up many labels of it.
type pageLabels struct {
	at     uint // where they begin
	levels [deepest]level
	starts [deepest]uint        // ones before each level
	ones   [pageSize / 8]uint16 // before each word, from where the labels begin
}

// fill takes in a page with n keys, whose labels begin at bit position at.
func (k *pageLabels) fill(c *code, p *page, at, n uint) {
	k.at = at
	at += n * c.suffix
	first, depth := at>>6, 0
	for depth < c.depth && n > 0 {
		k.levels[depth] = c.steps[depth].level(p, at, n)
		at, n = k.levels[depth].end, k.levels[depth].next
		depth++
	}
	sum := uint16(0)
	for i := first; i <= min(at>>6, pageContent/8); i++ {
		k.ones[i] = sum
		sum += uint16(bits.OnesCount64(binary.LittleEndian.Uint64(p[i*8:])))
	}
	for d := range depth {
		k.starts[d] = k.before(p, k.levels[d].at)
	}
}

func (k *pageLabels) before(p *page, at uint) uint {
	word := binary.LittleEndian.Uint64(p[at>>6<<3:])
	return uint(k.ones[at>>6]) + uint(bits.OnesCount64(word<<(63-at&63)<<1))
}

// lookUp is that of the code.
func (k *pageLabels) lookUp(c *code, p *page, r uint) uint32 {
	return k.group(c, p, r)<<c.suffix | c.rest(p, k.at, r)
}

func (k *pageLabels) group(c *code, p *page, r uint) uint32 {
	from, to, word := uint(0), k.levels[0].n, uint32(0)
	for d := 0; d < c.depth; d++ {
		s, v := &c.steps[d], &k.levels[d]
		if s.low != plainLevel {
			var one uint32
			if one, r = v.find(p, uint(s.low), r); word<<1|one < s.leafEnd {
				return s.place + (word<<1 | one)
			}
			from, to, word = 0, v.next, word<<1|one
			continue
		}
		at := v.at + r
		bit, here := at&63, binary.LittleEndian.Uint64(p[at>>6<<3:])
		one := uint(here >> bit & 1)
		if word = word<<1 | uint32(one); word < s.leafEnd {
			return s.place + word
		}
		before := uint(k.ones[at>>6]) + uint(bits.OnesCount64(here&(1<<bit-1)))
		if s.single {
			from, to, r = 0, v.next, before-k.starts[d]
			continue
		}
		start := k.before(p, v.at+from)
		from, to, r = v.descend(from, to, r, before-start, k.before(p, v.at+to)-start, one)
	}
	return 0
}

// find returns the bit of key r of a sparse level, and how many keys before it have a one.
func (v *level) find(p *page, low, r uint) (one uint32, before uint) {
	slot := r >> low
	pos := slotStart(p, v.at, slot)
	before = pos - slot
	mask := uint64(1)<<low - 1
	lows := v.at + v.next + v.n>>low + 1
	for ; load(p, v.at+pos)&1 == 1; pos++ {
		got := load(p, lows+before*low) & mask
		if got == uint64(r)&mask {
			return 1, before
		}
		if got > uint64(r)&mask {
			break
		}
		before++
	}
	return 0, before
}

// onesBefore counts the ones before key r, which is one of them, of a level with a single node, from the nearer side.
func (v *level) onesBefore(p *page, r uint) uint {
	if 2*r <= v.n {
		return countOnes(p, v.at, v.at+r)
	}
	return v.next - countOnes(p, v.at+r, v.at+v.n)
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
