package segment

// decode appends the places of the labels of a page with n keys to dst and returns the bit position behind them. It
// checks everything on the way: what it returns without an error is what lookUp would find.
func (c *code) decode(dst []uint32, p *page, at, n uint) (_ []uint32, end uint, ok bool) {
	start := len(dst)
	for range n {
		dst = append(dst, 0)
	}
	rests := at
	if at += n * c.suffix; at > contentBits {
		return dst, at, false
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
	for i := range d.places {
		if d.places[i] = d.places[i]<<c.suffix | c.rest(p, rests, uint(i)); d.places[i] >= uint32(c.labels) {
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
	v := d.steps[depth].level(d.page, at, n)
	if v.next > n || v.end > contentBits {
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
	if uint(len(next)) != v.next && depth+1 < d.depth {
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
	lows := v.at + v.next + v.n>>uint(low) + 1
	for at := v.at; at < lows; at++ {
		if load(p, at)&1 == 0 {
			slot++
			continue
		}
		i := slot<<uint(low) | uint(load(p, lows+found*uint(low))&(1<<uint(low)-1))
		if found++; i >= v.n || int(i) <= last || found > v.next {
			return nil, false
		}
		last = int(i)
		ones[i>>6] |= 1 << (i & 63)
	}
	return ones, found == v.next
}
