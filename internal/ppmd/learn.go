package ppmd

// Counts above these are not raised any more by what longer contexts read.
const (
	mostRaised      = mostFreq - 9
	mostAloneRaised = 32
	mostAloneNew    = 24
)

// learn makes the tree know that the symbol found followed the longest context, and goes to the next one.
func (m *model) learn() {
	symbol, freq, next := m.symbol(m.found), uint32(m.freq(m.found)), m.successor(m.found)
	in := uint32(0) // the state of the symbol in the context one shorter
	if freq < mostFreq/4 && m.suffix(m.here) != 0 {
		in = m.raiseShorter(m.suffix(m.here), symbol)
	}
	longest := m.longest
	if m.fall == 0 && next != 0 {
		made := m.extend(true, in, m.here)
		m.setSuccessor(m.found, made)
		if made == 0 {
			m.restore(longest)
			return
		}
		m.longest = made
		return
	}
	m.mem[m.text] = symbol
	m.text++
	successor := m.text
	if m.text >= m.units {
		m.restore(longest)
		return
	}
	switch {
	case next == 0:
		next = m.reduce(in, m.here)
	case next < m.units:
		next = m.extend(false, in, m.here)
	}
	if next == 0 {
		m.restore(longest)
		return
	}
	if m.fall--; m.fall == 0 {
		successor = next
		m.text -= one(m.longest != m.here)
	}
	for c := longest; c != m.here; c = m.suffix(c) {
		if !m.add(c, symbol, freq, successor) {
			m.restore(c)
			return
		}
	}
	m.longest, m.here = next, next
}

// raiseShorter counts the symbol in the context one shorter, and returns its state there.
func (m *model) raiseShorter(c uint32, symbol byte) uint32 {
	if m.last(c) == 0 {
		m.raiseAlone(c+2, mostAloneRaised)
		return c + 2
	}
	s := m.states(c)
	if m.symbol(s) != symbol {
		s = m.stateOf(c, symbol)
		if before := s - stateSize; m.freq(s) >= m.freq(before) {
			m.swap(s, before)
			s = before
		}
	}
	m.raise(c, s, 2)
	return s
}

func (m *model) raise(c, s uint32, by uint8) {
	if m.freq(s) < mostRaised {
		m.setFreq(s, m.freq(s)+by)
		m.setSum(c, uint32(m.sum(c))+uint32(by))
	}
}

func (m *model) raiseAlone(s uint32, most uint8) {
	if m.freq(s) < most {
		m.setFreq(s, m.freq(s)+1)
	}
}

// stateOf is the state of a symbol that the context has.
func (m *model) stateOf(c uint32, symbol byte) uint32 {
	s := m.states(c)
	for m.symbol(s) != symbol {
		s += stateSize
	}
	return s
}

// add gives a context that did not have it the symbol, with a count by what the shorter context knows of it. It reports
// false if there is no room.
func (m *model) add(c uint32, symbol byte, freq, successor uint32) bool {
	shorter := uint32(m.last(m.here))
	rest := uint32(m.sum(m.here)) - shorter - freq
	count := m.last(c)
	if count == 0 {
		at := m.alloc(0)
		if at == 0 {
			return false
		}
		m.copyState(at, c+2)
		f := m.freq(at)
		if f < mostFreq/4-1 {
			f *= 2
		} else {
			f = mostFreq - 4
		}
		m.setFreq(at, f)
		m.put(c+4, at)
		m.setSum(c, uint32(f)+m.escape+one(shorter > 2))
	} else {
		if !m.enlarge(c, count) {
			return false
		}
		m.setSum(c, uint32(m.sum(c))+one(uint32(3*count+1) < shorter))
	}
	sum := uint32(m.sum(c))
	f, all := 2*freq*(sum+6), rest+sum
	if f < 6*all {
		f = 1 + one(f > all) + one(f >= 4*all)
		m.setSum(c, sum+4)
	} else {
		f = 4 + one(f > 9*all) + one(f > 12*all) + one(f > 15*all)
		m.setSum(c, sum+f)
	}
	s := m.states(c) + uint32(count+1)*stateSize
	m.mem[s] = symbol
	m.setFreq(s, uint8(f))
	m.setSuccessor(s, successor)
	m.mem[c] = byte(count + 1)
	m.mem[c+1] |= high(symbol)
	return true
}

// enlarge makes room for one more state.
func (m *model) enlarge(c uint32, count int) bool {
	if count%2 == 0 {
		return true
	}
	units := uint32(count+1) / 2
	class := classOf(units)
	if class == classOf(units+1) {
		return true
	}
	at := m.alloc(class + 1)
	if at == 0 {
		return false
	}
	was := m.states(c)
	copy(m.mem[at:][:units*unit], m.mem[was:])
	m.release(was, class)
	m.put(c+4, at)
	return true
}

// extend makes the contexts one longer than c and than those shorter than it, as far as they have none: each with the one
// symbol that the text tells. in is the state of the symbol in the context one shorter, if it is known. It returns the
// longest, or 0 if there is no room.
func (m *model) extend(skip bool, in, c uint32) uint32 {
	branch := m.successor(m.found)
	symbol := m.symbol(m.found)
	var open [17]uint32
	n := 0
	if !skip {
		open[n] = m.found
		n++
	}
	for m.suffix(c) != 0 {
		c = m.suffix(c)
		s := in
		if in = 0; s == 0 {
			s = m.raiseLonger(c, symbol)
		}
		if next := m.successor(s); next != branch {
			c = next
			if n == 0 {
				return c
			}
			break
		}
		open[n] = s
		n++
	}
	follows := m.mem[branch]
	flags := high(symbol)*(flagAfterHigh/flagHigh) + high(follows)
	freq := m.inherited(c, follows)
	for n > 0 {
		made := m.allocUnit()
		if made == 0 {
			return 0
		}
		m.mem[made], m.mem[made+1] = 0, flags
		m.mem[made+2] = follows
		m.setFreq(made+2, freq)
		m.setSuccessor(made+2, branch+1)
		m.put(made+8, c)
		n--
		m.setSuccessor(open[n], made)
		c = made
	}
	return c
}

// raiseLonger counts the symbol in a context that is about to get a longer one.
func (m *model) raiseLonger(c uint32, symbol byte) uint32 {
	if m.last(c) != 0 {
		s := m.stateOf(c, symbol)
		m.raise(c, s, 1)
		return s
	}
	if m.last(m.suffix(c)) == 0 {
		m.raiseAlone(c+2, mostAloneNew)
	}
	return c + 2
}

// inherited is the first count of a symbol in a new context, by what the shorter one knows of it.
func (m *model) inherited(c uint32, symbol byte) uint8 {
	if m.last(c) == 0 {
		return m.freq(c + 2)
	}
	f := uint32(m.freq(m.stateOf(c, symbol))) - 1
	rest := uint32(m.sum(c)) - uint32(m.last(c)) - f
	if 2*f <= rest {
		return uint8(1 + one(5*f > rest))
	}
	return uint8(1 + (f+2*rest-3)/rest)
}

// reduce points the symbol's states in contexts that end here to the text, up to one that has a successor, which is
// returned.
func (m *model) reduce(in, c uint32) uint32 {
	from, symbol, branch := c, m.symbol(m.found), m.text
	m.setSuccessor(m.found, branch)
	m.fall++
	var s uint32
	for {
		if m.suffix(c) == 0 {
			return c
		}
		c = m.suffix(c)
		s, in = in, 0
		switch {
		case s != 0:
		case m.last(c) != 0:
			s = m.stateOf(c, symbol)
			m.raise(c, s, 2)
		default:
			s = c + 2
			m.raiseAlone(s, mostAloneRaised)
		}
		if m.successor(s) != 0 {
			break
		}
		m.setSuccessor(s, branch)
		m.fall++
	}
	if m.successor(s) <= branch {
		found := m.found
		m.found = s
		m.setSuccessor(s, m.extend(false, 0, c))
		m.found = found
	}
	if m.fall == 1 && from == m.longest {
		m.setSuccessor(m.found, m.successor(s))
		m.text--
	}
	return m.successor(s)
}

// restore makes room in a full arena. Contexts from the longest to done got the symbol that was found; it is taken from
// them again.
func (m *model) restore(done uint32) {
	m.text = begin
	c := m.longest
	for ; c != done; c = m.suffix(c) {
		count := m.last(c) - 1
		m.mem[c] = byte(count)
		if s := m.states(c); count == 0 {
			m.single(c, s, (m.freq(s)+11)>>3)
			m.releaseFirst(s)
		} else {
			m.refresh(c, blockOf(count+1), 0)
		}
	}
	for ; c != m.here; c = m.suffix(c) {
		count := m.last(c)
		if count == 0 {
			m.setFreq(c+2, m.freq(c+2)-m.freq(c+2)>>1)
			continue
		}
		m.setSum(c, uint32(m.sum(c))+4)
		if int(m.sum(c)) > 128+4*count {
			m.refresh(c, blockOf(count), 1)
		}
	}
	size := uint32(len(m.mem)) - begin
	if !m.cutOff || m.used() < size/2 {
		m.restart()
		return
	}
	for m.suffix(m.longest) != 0 {
		m.longest = m.suffix(m.longest)
	}
	for {
		m.cut(m.longest, 0)
		m.widen()
		if m.used() <= 3*(size/4) {
			break
		}
	}
	m.joins = 0
	m.fall = m.order
}

// refresh counts a context anew after states went from its end; scale 1 halves counts.
func (m *model) refresh(c, units uint32, scale uint8) {
	count := m.last(c)
	s := m.shrink(m.states(c), units, blockOf(count))
	m.put(c+4, s)
	flags := m.flags(c) & (flagAfterHigh + flagHalved*scale)
	escape, sum := uint32(m.sum(c)), uint32(0)
	for range count + 1 {
		f := m.freq(s)
		escape -= uint32(f)
		f = (f + scale) >> scale
		m.setFreq(s, f)
		sum += uint32(f)
		flags |= high(m.symbol(s))
		s += stateSize
	}
	m.setSum(c, sum+(escape+uint32(scale))>>scale)
	m.mem[c+1] = flags
}

// cut removes what has no successors from a context of some length and those longer than it. It returns the context, or 0
// if nothing is left of it.
func (m *model) cut(c uint32, length int) uint32 {
	if m.last(c) == 0 {
		const kept = 9
		if s := c + 2; m.successor(s) >= m.units {
			m.cutSuccessor(s, length)
			if m.successor(s) != 0 || length <= kept {
				return c
			}
		}
		m.releaseFirst(c)
		return 0
	}
	count := m.last(c)
	units := blockOf(count)
	states := m.up(m.states(c), units)
	m.put(c+4, states)
	left := count
	for i := count; i >= 0; i-- {
		s := states + uint32(i)*stateSize
		if m.successor(s) >= m.units {
			m.cutSuccessor(s, length)
			continue
		}
		m.setSuccessor(s, 0)
		m.swap(s, states+uint32(left)*stateSize)
		left--
	}
	if left == count || length == 0 {
		return c
	}
	if left < 0 {
		m.release(states, classOf(units))
		m.releaseFirst(c)
		return 0
	}
	m.mem[c] = byte(left)
	if left == 0 {
		m.single(c, states, (m.freq(states)+11)>>3)
		m.release(states, classOf(units))
		return c
	}
	m.refresh(c, units, uint8(one(int(m.sum(c)) > 16*left)))
	return c
}

func (m *model) cutSuccessor(s uint32, length int) {
	next := uint32(0)
	if length < m.order {
		next = m.cut(m.successor(s), length+1)
	}
	m.setSuccessor(s, next)
}
