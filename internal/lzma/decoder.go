package lzma

const (
	bitsTotal = 11
	probStart = 1 << (bitsTotal - 1)
	moveBits  = 5

	states      = 12
	lowLength   = 8
	midLength   = 8
	highLength  = 256
	leastMatch  = 2
	distStates  = 4
	alignBits   = 4
	firstModel  = 4
	endModel    = 14
	fullDist    = 1 << (endModel / 2)
	mostPosBits = 4
)

// rangeCoder decodes bits whose odds are learnt.
type rangeCoder struct {
	in          *input
	rng, code   uint32
	err         error
	packed      []byte // of a chunk, instead of in
	inChunk     bool
	packedTaken int
	short       error // why the chunk is not there as a whole
}

func (c *rangeCoder) next() byte {
	if c.inChunk {
		if c.packedTaken < len(c.packed) {
			b := c.packed[c.packedTaken]
			c.packedTaken++
			return b
		}
		if c.err == nil {
			if c.err = ErrCorrupt; c.short != nil {
				c.err = c.short
			}
		}
		return 0
	}
	b, err := c.in.next()
	if err != nil && c.err == nil {
		c.err = err
	}
	return b
}

func (c *rangeCoder) start() error {
	c.rng, c.code, c.err = 0xffffffff, 0, nil
	first := c.next()
	for range 4 {
		c.code = c.code<<8 | uint32(c.next())
	}
	if c.err == nil && first != 0 {
		c.err = ErrCorrupt
	}
	return c.err
}

func (c *rangeCoder) normalize() {
	if c.rng < 1<<24 {
		c.rng <<= 8
		c.code = c.code<<8 | uint32(c.next())
	}
}

func (c *rangeCoder) bit(p *uint16) uint32 {
	c.normalize()
	bound := (c.rng >> bitsTotal) * uint32(*p)
	if c.code < bound {
		c.rng = bound
		*p += (1<<bitsTotal - *p) >> moveBits
		return 0
	}
	c.rng -= bound
	c.code -= bound
	*p -= *p >> moveBits
	return 1
}

func (c *rangeCoder) direct(n uint32) (v uint32) {
	for ; n > 0; n-- {
		c.normalize()
		c.rng >>= 1
		c.code -= c.rng
		t := 0 - c.code>>31
		c.code += c.rng & t
		v = v<<1 + t + 1
	}
	return v
}

func (c *rangeCoder) tree(p []uint16, bits uint) uint32 {
	m := uint32(1)
	for range bits {
		m = m<<1 | c.bit(&p[m])
	}
	return m - 1<<bits
}

func (c *rangeCoder) reverse(p []uint16, bits uint32) (v uint32) {
	m := uint32(1)
	for i := range bits {
		b := c.bit(&p[m])
		m = m<<1 | b
		v |= b << i
	}
	return v
}

type lengths struct {
	choice [2]uint16
	low    [1 << mostPosBits][lowLength]uint16
	mid    [1 << mostPosBits][midLength]uint16
	high   [highLength]uint16
}

func (l *lengths) reset() {
	fresh(l.choice[:])
	for i := range l.low {
		fresh(l.low[i][:])
		fresh(l.mid[i][:])
	}
	fresh(l.high[:])
}

func (l *lengths) read(c *rangeCoder, pos uint32) int {
	if c.bit(&l.choice[0]) == 0 {
		return int(c.tree(l.low[pos][:], 3))
	}
	if c.bit(&l.choice[1]) == 0 {
		return lowLength + int(c.tree(l.mid[pos][:], 3))
	}
	return lowLength + midLength + int(c.tree(l.high[:], 8))
}

func fresh(p []uint16) {
	for i := range p {
		p[i] = probStart
	}
}

// decoder is the state of a stream.
type decoder struct {
	window window
	coder  rangeCoder
	left   int64 // bytes of text to come, or Unknown
	total  uint32

	lc, lp, pb uint
	state      int
	rep        [4]uint32 // distances used last, less one
	copying    int       // bytes of a match that did not fit

	literal                  []uint16
	match, rep0Long          [states << mostPosBits]uint16
	isRep, isG0, isG1, isG2  [states]uint16
	slot                     [distStates][64]uint16
	special                  [fullDist - endModel + 1]uint16
	align                    [1 << alignBits]uint16
	matchLengths, repLengths lengths
}

// setProperties takes the byte that says how many bits of place and of the byte before count.
func (d *decoder) setProperties(b byte) error {
	if b >= 9*5*5 {
		return ErrCorrupt
	}
	d.lc, d.lp, d.pb = uint(b%9), uint(b/9%5), uint(b/45)
	if d.lc+d.lp > 12 {
		return ErrCorrupt
	}
	return nil
}

func (d *decoder) resetState() {
	d.state, d.rep, d.copying = 0, [4]uint32{}, 0
	if n := 0x300 << (d.lc + d.lp); cap(d.literal) < n {
		d.literal = make([]uint16, n)
	} else {
		d.literal = d.literal[:n]
	}
	for _, p := range [][]uint16{
		d.literal, d.match[:], d.rep0Long[:], d.isRep[:], d.isG0[:], d.isG1[:], d.isG2[:], d.special[:], d.align[:],
	} {
		fresh(p)
	}
	for i := range d.slot {
		fresh(d.slot[i][:])
	}
	d.matchLengths.reset()
	d.repLengths.reset()
}

// step is how much is unpacked before it is handed out.
const step = 64 << 10

// decode unpacks until the window wants to be emptied, a step is done, or the stream ends.
func (d *decoder) decode() (ended bool, err error) {
	for n := 0; n < step && d.left != 0; {
		ok, err := d.window.room()
		if err != nil || !ok {
			return false, err
		}
		before := d.window.w
		if d.copying > 0 {
			d.copyMatch()
		} else if ended := d.symbol(); ended || d.coder.err != nil {
			if d.coder.err != nil {
				d.window.w = before // made up of bytes that are not there
			}
			return ended, d.coder.err
		}
		n += d.window.w - before
	}
	return false, d.coder.err
}

func (d *decoder) put(c byte) {
	d.window.buf[d.window.w] = c
	d.window.w++
	d.total++
	if d.left > 0 {
		d.left--
	}
}

// copyMatch copies as much of a match as fits.
func (d *decoder) copyMatch() {
	distance := int(d.rep[0]) + 1
	n := min(d.copying, len(d.window.buf)-d.window.w)
	if d.left >= 0 {
		n = int(min(int64(n), d.left))
	}
	buf, w := d.window.buf, d.window.w
	from := w - distance
	if from < 0 {
		from += len(buf)
	}
	for i := range n {
		buf[w+i] = buf[from]
		if from++; from == len(buf) {
			from = 0
		}
	}
	d.window.w += n
	d.total += uint32(n)
	d.copying -= n
	if d.left >= 0 {
		if d.left -= int64(n); d.left == 0 && d.copying > 0 {
			d.coder.err = ErrCorrupt
		}
	}
}

// symbol reads a literal or the description of a match.
func (d *decoder) symbol() (ended bool) {
	c := &d.coder
	pos := d.total & (1<<d.pb - 1)
	if c.bit(&d.match[d.state<<mostPosBits|int(pos)]) == 0 {
		d.readLiteral()
		return false
	}
	var length int
	if c.bit(&d.isRep[d.state]) == 0 {
		d.rep[3], d.rep[2], d.rep[1] = d.rep[2], d.rep[1], d.rep[0]
		length = d.matchLengths.read(c, pos)
		d.state = after(d.state, 7, 10)
		if d.rep[0] = d.distance(length); d.rep[0] == 0xffffffff {
			return true
		}
	} else {
		short, ok := d.repeat(pos)
		if !ok || short {
			return false
		}
		length = d.repLengths.read(c, pos)
		d.state = after(d.state, 8, 11)
	}
	if c.err == nil && !d.window.has(int(d.rep[0])+1) {
		c.err = ErrCorrupt
	}
	if c.err == nil {
		d.copying = length + leastMatch
		d.copyMatch()
	}
	return false
}

func after(state, afterLiteral, afterMatch int) int {
	if state < 7 {
		return afterLiteral
	}
	return afterMatch
}

// repeat reads which of the distances used last is used again; a short repetition is one byte and done.
func (d *decoder) repeat(pos uint32) (short, ok bool) {
	c := &d.coder
	if !d.window.has(1) {
		c.err = ErrCorrupt
		return false, false
	}
	if c.bit(&d.isG0[d.state]) == 0 {
		if c.bit(&d.rep0Long[d.state<<mostPosBits|int(pos)]) == 0 {
			d.state = after(d.state, 9, 11)
			if c.err == nil && !d.window.has(int(d.rep[0])+1) {
				c.err = ErrCorrupt
			}
			if c.err == nil {
				d.put(d.window.byteAt(int(d.rep[0]) + 1))
			}
			return true, true
		}
		return false, true
	}
	if c.bit(&d.isG1[d.state]) == 0 {
		d.rep[0], d.rep[1] = d.rep[1], d.rep[0]
		return false, true
	}
	if c.bit(&d.isG2[d.state]) == 0 {
		d.rep[0], d.rep[1], d.rep[2] = d.rep[2], d.rep[0], d.rep[1]
		return false, true
	}
	d.rep[0], d.rep[1], d.rep[2], d.rep[3] = d.rep[3], d.rep[0], d.rep[1], d.rep[2]
	return false, true
}

func (d *decoder) readLiteral() {
	c := &d.coder
	before := uint32(0)
	if d.window.has(1) {
		before = uint32(d.window.byteAt(1))
	}
	which := (d.total&(1<<d.lp-1))<<d.lc + before>>(8-d.lc)
	p := d.literal[0x300*which:][:0x300]
	m := uint32(1)
	if d.state >= 7 {
		if !d.window.has(int(d.rep[0]) + 1) {
			c.err = ErrCorrupt
			return
		}
		like := uint32(d.window.byteAt(int(d.rep[0]) + 1))
		for m < 0x100 {
			bit := like >> 7 & 1
			like <<= 1
			got := c.bit(&p[(1+bit)<<8+m])
			m = m<<1 | got
			if got != bit {
				break
			}
		}
	}
	for m < 0x100 {
		m = m<<1 | c.bit(&p[m])
	}
	if c.err == nil {
		d.put(byte(m))
	}
	switch {
	case d.state < 4:
		d.state = 0
	case d.state < 10:
		d.state -= 3
	default:
		d.state -= 6
	}
}

func (d *decoder) distance(length int) uint32 {
	c := &d.coder
	slot := c.tree(d.slot[min(length, distStates-1)][:], 6)
	if slot < firstModel {
		return slot
	}
	bits := slot>>1 - 1
	distance := (2 | slot&1) << bits
	if slot < endModel {
		return distance + c.reverse(d.special[distance-slot:], bits)
	}
	distance += c.direct(bits-alignBits) << alignBits
	return distance + c.reverse(d.align[:], alignBits)
}
