package zstd

// codes are the table of one of the three numbers of a sequence, and what it may be replaced by.
type codes struct {
	table
	known bool // there is one to use again
}

// numberKind is how one of the three numbers is written: its symbols, and the table that needs no description.
type numberKind struct {
	maxLog, maxSymbol int
	value             func(symbol int) (base uint32, extra uint8)
	usual             []int16
	usualLog          int
}

var (
	literalLength = numberKind{9, 35, steps(16, 0, []uint8{1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}), []int16{
		4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1,
	}, 6}
	matchLength = numberKind{9, 52, steps(32, 3, []uint8{1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}), []int16{
		1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
		-1, -1, -1, -1, -1, -1, -1,
	}, 6}
	offset = numberKind{8, 31, func(s int) (uint32, uint8) { return 1 << s, uint8(s) }, []int16{
		1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1,
	}, 5}
)

// steps are symbols that stand for themselves, shifted, up to exact; each one after that begins where the one before
// ends.
func steps(exact, shift int, extra []uint8) func(int) (uint32, uint8) {
	bases := make([]uint32, len(extra))
	base := uint32(exact + shift)
	for i, k := range extra {
		bases[i] = base
		base += 1 << k
	}
	return func(s int) (uint32, uint8) {
		if s < exact {
			return uint32(s + shift), 0
		}
		return bases[s-exact], extra[s-exact]
	}
}

// read takes the table that mode asks for and returns what follows its description.
func (c *codes) read(kind *numberKind, mode byte, raw []byte) (rest []byte, ok bool) {
	switch mode {
	case 0:
		c.build(kind.usual, kind.usualLog, kind.value)
	case 1:
		if len(raw) == 0 || int(raw[0]) > kind.maxSymbol {
			return nil, false
		}
		c.single(kind.value(int(raw[0])))
		raw = raw[1:]
	case 2:
		counts, log, taken, ok := readCounts(raw, kind.maxLog, kind.maxSymbol)
		if !ok {
			return nil, false
		}
		c.build(counts, log, kind.value)
		raw = raw[taken:]
	default:
		return raw, c.known
	}
	c.known = true
	return raw, true
}

// sequences carries out the n sequences of a block: so many literals, then a match, a piece of what came before. It
// returns the literals that are left.
func (b *block) sequences(text, literals, raw []byte, n int, window uint64, most int) (_, left []byte, ok bool) {
	if len(raw) == 0 || raw[0]&3 != 0 {
		return text, nil, false
	}
	modes, raw := raw[0], raw[1:]
	if raw, ok = b.lengths.read(&literalLength, modes>>6, raw); !ok {
		return text, nil, false
	}
	if raw, ok = b.offsets.read(&offset, modes>>4&3, raw); !ok {
		return text, nil, false
	}
	if raw, ok = b.matches.read(&matchLength, modes>>2&3, raw); !ok {
		return text, nil, false
	}
	in, ok := newBackward(raw)
	if !ok {
		return text, nil, false
	}
	in.refill()
	lengthAt, offsetAt, matchAt := in.take(b.lengths.log), in.take(b.offsets.log), in.take(b.matches.log)
	room := most
	for i := range n {
		l, o, m := b.lengths.states[lengthAt], b.offsets.states[offsetAt], b.matches.states[matchAt]
		in.refill()
		distance := int(o.base) + int(in.take(int(o.extra)))
		in.refill()
		match := int(m.base) + int(in.take(int(m.extra)))
		length := int(l.base) + int(in.take(int(l.extra)))
		if i+1 < n {
			in.refill()
			lengthAt = uint64(l.next) + in.take(int(l.bits))
			matchAt = uint64(m.next) + in.take(int(m.bits))
			offsetAt = uint64(o.next) + in.take(int(o.bits))
		}
		distance = b.distance(distance, length)
		if room -= length + match; room < 0 || length > len(literals) || in.left() < 0 {
			return text, nil, false
		}
		text = append(text, literals[:length]...)
		literals = literals[length:]
		if distance <= 0 || distance > len(text) || uint64(distance) > window {
			return text, nil, false
		}
		text = appendMatch(text, distance, match)
	}
	return text, literals, in.left() == 0
}

// distance turns what is written into an offset: one of the last three, or a new one. It returns 0 for what is neither.
func (b *block) distance(written, length int) int {
	d := written - 3
	which := 3
	if written <= 3 {
		if which = written - 1; length == 0 {
			which++
		}
		if d = b.recent[0] - 1; which < 3 {
			d = b.recent[which]
		}
	}
	switch which {
	case 0:
		return d
	case 1:
		b.recent[1] = b.recent[0]
	default:
		b.recent[2], b.recent[1] = b.recent[1], b.recent[0]
	}
	b.recent[0] = d
	return d
}

// appendMatch repeats n bytes from distance back; where they overlap what is written, they repeat themselves.
func appendMatch(text []byte, distance, n int) []byte {
	for n > 0 {
		k := min(n, distance)
		text = append(text, text[len(text)-distance:][:k]...)
		n -= k
		distance += k
	}
	return text
}
