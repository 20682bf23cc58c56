package segment

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// decoding is a page whose labels are being read level by level. It may be used for one page after the other.
type decoding struct {
	*code
	*page
	places      []uint32 // what is found
	keys, spare []uint32 // of the level, in its order
	nodes       []node
	words       []uint64
}

// decode reads the labels of a page with n keys, which begin at bit position at, into d.places, and returns the bit
// position behind them. It checks everything on the way: what it returns as ok is what lookUp would find.
func (d *decoding) decode(c *code, p *page, at, n uint) (end uint, ok bool) {
	d.code, d.page = c, p
	if at+n*c.suffix > contentBits {
		return at, false
	}
	d.places, d.keys, d.spare = slices.Grow(d.places[:0], int(n))[:n], slices.Grow(d.keys[:0], int(n))[:n], slices.Grow(d.spare[:0], int(n))[:n]
	d.rests(at)
	at += n * c.suffix
	if !c.chain {
		for i := range d.keys {
			d.keys[i] = uint32(i)
		}
		d.nodes = append(d.nodes[:0], node{0, n})
	}
	for depth := 0; depth < c.depth && len(d.keys) > 0; depth++ {
		if c.chain {
			at, ok = d.link(depth, at)
		} else {
			at, ok = d.level(depth, at)
		}
		if !ok {
			return at, false
		}
	}
	// The last group may have less labels than others.
	if c.labels&(1<<c.suffix-1) != 0 {
		for _, place := range d.places {
			if place >= uint32(c.labels) {
				return at, false
			}
		}
	}
	return at, at <= contentBits
}

// rests reads what of the places is no part of a group, which begins at bit position at.
func (d *decoding) rests(at uint) {
	if d.suffix == 0 {
		clear(d.places)
		return
	}
	each, mask := 56/d.suffix, uint32(1)<<d.suffix-1
	for i := 0; i < len(d.places); i += int(each) {
		word := load(d.page, at)
		at += each * d.suffix
		part := d.places[i:min(len(d.places), i+int(each))]
		for k := range part {
			part[k] = uint32(word) & mask
			word >>= d.suffix
		}
	}
}

// link reads a level of a chain: its zeros end there, and its ones, in the same order, are the next level.
func (d *decoding) link(depth int, at uint) (end uint, ok bool) {
	v, ok := d.open(depth, at)
	if !ok {
		return 0, false
	}
	next, group := d.spare[:len(d.keys)], uint32(1)<<d.suffix
	n := 0
	for i, word := range d.words {
		for ; word != 0; word &= word - 1 {
			key := uint32(i<<6 + bits.TrailingZeros64(word))
			if depth > 0 {
				key = d.keys[key]
			}
			d.places[key] += group
			next[n] = key
			n++
		}
	}
	if uint(n) != v.next && depth+1 < d.depth {
		return 0, false
	}
	d.spare, d.keys = d.keys[:cap(d.keys)], next[:n]
	return v.end, true
}

// open finds level d at bit position at and reads its bits into d.words.
func (d *decoding) open(depth int, at uint) (v level, ok bool) {
	n := uint(len(d.keys))
	if at > contentBits {
		return v, false
	}
	v = d.steps[depth].level(d.page, at, n)
	if v.next > n || v.end > contentBits {
		return v, false
	}
	d.words = slices.Grow(d.words[:0], int(n/64+1))[:n/64+1]
	return v, v.bits(d.words, d.page, d.low[depth])
}

// node is a code of which there are keys.
type node struct {
	code uint32
	n    uint
}

// level reads level d at bit position at.
func (d *decoding) level(depth int, at uint) (end uint, ok bool) {
	v, ok := d.open(depth, at)
	if !ok {
		return 0, false
	}
	ones := d.words
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
					d.places[d.keys[i]] |= (d.firstPlace[depth+1] + word - d.firstCode[depth+1]) << d.suffix
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
	if uint(len(next)) != v.next && depth+1 < d.depth {
		return 0, false
	}
	d.spare, d.keys, d.nodes = d.keys[:0], next, went
	return v.end, true
}

// bits reads the bits of a level into ones, a bitmap.
func (v *level) bits(ones []uint64, p *page, low int) (ok bool) {
	if low == plainLevel {
		for i := range ones {
			at, left := v.at+uint(i)*64, v.n-uint(i)*64
			if left == 0 {
				ones[i] = 0
				break
			}
			// The mark behind the bits leaves room for what is read too much.
			ones[i] = binary.LittleEndian.Uint64(p[at>>3:])>>(at&7) | uint64(p[at>>3+8])<<8>>(at&7)<<56
			if left < 64 {
				ones[i] &= 1<<left - 1
			}
		}
		return true
	}
	clear(ones)
	slot, found, last := uint(0), uint(0), -1
	lows := v.at + v.next + v.n>>uint(low) + 1
	for at := v.at; at < lows; at++ {
		if load(p, at)&1 == 0 {
			slot++
			continue
		}
		i := slot<<uint(low) | uint(load(p, lows+found*uint(low))&(1<<uint(low)-1))
		if found++; i >= v.n || int(i) <= last || found > v.next {
			return false
		}
		last = int(i)
		ones[i>>6] |= 1 << (i & 63)
	}
	return found == v.next
}
