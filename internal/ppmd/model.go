package ppmd

import "encoding/binary"

// model is a tree of contexts, each the symbols that followed the same bytes, and how often. A context is a unit: how
// many symbols it has less one, flags, the sum of counts, where its states are, and the context without its first byte.
// One with a single symbol has the state in the place of the sum and what follows it. A state is a symbol, its count and
// its successor: the context one byte longer, or the place in the text where one would begin.
type model struct {
	arena
	order  int
	cutOff bool

	here    uint32 // the context under way
	longest uint32
	found   uint32 // state of the symbol that was read last
	fall    int    // by how much the context is shorter than the longest possible

	escape    uint32 // what a context gets for leaving it once it has two symbols
	succeeded uint32 // 1 if the last symbol was the likely one
	run       int32  // of such symbols
	runStart  int32
	mask      [256]bool // symbols that longer contexts ruled out

	binarySums [25][64]uint16
	escapeSums [24][32]escapeSum
	noSum      escapeSum // of the context of all symbols, which is left only at the end
}

const (
	stateSize  = 6
	scaleBits  = 14
	periodBits = 7
	mostFreq   = 124

	// Flags of a context: its counts were halved once; one of its symbols is a letter or beyond; so is the one before it.
	flagHalved, flagHigh, flagAfterHigh = 4, 8, 16
)

var (
	escapes     = [16]uint8{25, 14, 9, 7, 5, 5, 4, 4, 4, 3, 3, 3, 2, 2, 2, 2}
	binaryStart = [8]uint16{0x3CDD, 0x1F3F, 0x59BF, 0x48F3, 0x64A1, 0x5ABC, 0x6632, 0x6051}

	// quantum puts counts into ranges, each one longer than the one before.
	quantum [260]uint8
)

func init() {
	at, left := uint8(5), 1
	for i := range quantum {
		if i < 5 {
			quantum[i] = uint8(i)
			continue
		}
		quantum[i] = at
		if left--; left == 0 {
			at++
			left = int(at) - 4
		}
	}
}

// escapeSum learns how likely contexts of a kind are left.
type escapeSum struct {
	sum          uint16
	shift, count uint8
}

func (e *escapeSum) learn() {
	if e.shift >= periodBits {
		return
	}
	if e.count--; e.count == 0 {
		e.sum <<= 1
		e.count = 3 << e.shift
		e.shift++
	}
}

func mean(odds uint16) uint16 { return (odds + 1<<(periodBits-2)) >> periodBits }

func (m *model) last(c uint32) int               { return int(m.mem[c]) }
func (m *model) flags(c uint32) uint8            { return m.mem[c+1] }
func (m *model) sum(c uint32) uint16             { return binary.LittleEndian.Uint16(m.mem[c+2:]) }
func (m *model) setSum(c uint32, n uint32)       { binary.LittleEndian.PutUint16(m.mem[c+2:], uint16(n)) }
func (m *model) states(c uint32) uint32          { return m.get(c + 4) }
func (m *model) suffix(c uint32) uint32          { return m.get(c + 8) }
func (m *model) symbol(s uint32) byte            { return m.mem[s] }
func (m *model) freq(s uint32) uint8             { return m.mem[s+1] }
func (m *model) setFreq(s uint32, n uint8)       { m.mem[s+1] = n }
func (m *model) successor(s uint32) uint32       { return m.get(s + 2) }
func (m *model) setSuccessor(s uint32, v uint32) { m.put(s+2, v) }

func (m *model) copyState(to, from uint32) { copy(m.mem[to:][:stateSize], m.mem[from:][:stateSize]) }

func (m *model) swap(s, t uint32) {
	var was [stateSize]byte
	copy(was[:], m.mem[s:])
	m.copyState(s, t)
	copy(m.mem[t:], was[:])
}

// toFront moves a state before those from front on.
func (m *model) toFront(s, front uint32) {
	var was [stateSize]byte
	copy(was[:], m.mem[s:])
	copy(m.mem[front+stateSize:s+stateSize], m.mem[front:s])
	copy(m.mem[front:], was[:])
}

// high is the flag of a symbol.
func high(symbol byte) uint8 {
	if symbol >= 0x40 {
		return flagHigh
	}
	return 0
}

func one(is bool) uint32 {
	if is {
		return 1
	}
	return 0
}

func (m *model) start(size uint32, order int, cutOff bool) {
	m.mem = make([]byte, begin+size)
	m.order, m.cutOff = order, cutOff
	m.noSum = escapeSum{shift: periodBits}
	m.restart()
}

// restart forgets everything: one context knows every symbol, each equally likely.
func (m *model) restart() {
	m.clear()
	m.fall = m.order
	m.runStart = -int32(min(m.order, 12)) - 1
	m.run, m.succeeded = m.runStart, 0
	m.high -= unit
	m.here, m.longest = m.high, m.high
	states := m.low
	m.low += 256 / 2 * unit
	m.mem[m.here], m.mem[m.here+1] = 255, 0
	m.setSum(m.here, 257)
	m.put(m.here+4, states)
	m.put(m.here+8, 0)
	for i := range 256 {
		s := states + uint32(i)*stateSize
		m.mem[s] = byte(i)
		m.setFreq(s, 1)
		m.setSuccessor(s, 0)
	}
	m.found = states

	i := 0
	for q := range m.binarySums {
		for int(quantum[i]) == q {
			i++
		}
		for k := range m.binarySums[q] {
			m.binarySums[q][k] = 1<<scaleBits - binaryStart[k%8]/uint16(i+1)
		}
	}
	i = 0
	for q := range m.escapeSums {
		for int(quantum[i+3]) == q+3 {
			i++
		}
		for k := range m.escapeSums[q] {
			const shift = periodBits - 4
			m.escapeSums[q][k] = escapeSum{sum: uint16(2*i+5) << shift, shift: shift, count: 7}
		}
	}
}

// binaryOdds is how likely the symbol of a context of one comes.
func (m *model) binaryOdds() *uint16 {
	c := m.here
	group := uint32(6)
	switch n := m.last(m.suffix(c)); {
	case n < 2:
		group = uint32(2 * n)
	case n < 11:
		group = 4
	}
	const runs = 32
	return &m.binarySums[quantum[m.freq(c+2)-1]][group+m.succeeded+uint32(m.flags(c))+uint32(m.run>>26)&runs]
}

// escapeOdds is how likely the context is left once more.
func (m *model) escapeOdds(before int) (*escapeSum, uint32) {
	c := m.here
	n := m.last(c)
	if n == 255 {
		return &m.noSum, 1
	}
	kind := one(int(m.sum(c)) > 11*(n+1)) + 2*one(2*n < m.last(m.suffix(c))+before) + uint32(m.flags(c))
	e := &m.escapeSums[quantum[n+2]-3][kind]
	odds := e.sum >> e.shift
	e.sum -= odds
	return e, max(uint32(odds), 1)
}

// foundAlone learns the symbol of a context of one.
func (m *model) foundAlone(s uint32) {
	m.found = s
	const most = 196
	if m.freq(s) < most {
		m.setFreq(s, m.freq(s)+1)
	}
	m.succeeded = 1
	m.run++
	m.advance()
}

// foundFirst learns the likeliest symbol of the longest context.
func (m *model) foundFirst(s uint32) {
	m.found = s
	m.succeeded = one(2*uint32(m.freq(s)) >= uint32(m.sum(m.here)))
	m.run += int32(m.succeeded)
	m.count(s)
	if m.freq(s) > mostFreq {
		m.halve()
	}
	m.advance()
}

// foundLater learns another symbol of it; those that come more often move to the front.
func (m *model) foundLater(s uint32) {
	m.found = s
	m.count(s)
	if before := s - stateSize; m.freq(s) > m.freq(before) {
		m.swap(s, before)
		m.found = before
		if m.freq(before) > mostFreq {
			m.halve()
		}
	}
	m.advance()
}

// foundMasked learns a symbol of a shorter context.
func (m *model) foundMasked(s uint32) {
	m.found = s
	m.count(s)
	if m.freq(s) > mostFreq {
		m.halve()
	}
	m.run = m.runStart
	m.learn()
	m.here = m.longest
}

func (m *model) count(s uint32) {
	m.setFreq(s, m.freq(s)+4)
	m.setSum(m.here, uint32(m.sum(m.here))+4)
}

// advance goes to the context after the symbol that was found.
func (m *model) advance() {
	if next := m.successor(m.found); m.fall == 0 && next >= m.units {
		m.here, m.longest = next, next
		return
	}
	m.learn()
	m.here = m.longest
}

// halve halves the counts of a context; symbols whose count becomes zero are forgotten. The one that was found comes
// first.
func (m *model) halve() {
	c := m.here
	states, count := m.states(c), m.last(c)
	m.toFront(m.found, states)
	round := uint8(one(m.fall != 0))
	escape := uint32(m.sum(c)) - uint32(m.freq(states))
	m.setFreq(states, (m.freq(states)+4+round)>>1)
	sum := uint32(m.freq(states))
	s := states
	for range count {
		s += stateSize
		escape -= uint32(m.freq(s))
		n := (m.freq(s) + round) >> 1
		m.setFreq(s, n)
		sum += uint32(n)
		if to := s; n > m.freq(s-stateSize) {
			for to -= stateSize; to != states && n > m.freq(to-stateSize); {
				to -= stateSize
			}
			m.toFront(s, to)
		}
	}
	gone := 0
	for ; m.freq(s) == 0; s -= stateSize {
		gone++
	}
	if gone > 0 {
		escape += uint32(gone)
		if count == gone {
			m.alone(c, states, uint32(count), escape)
			return
		}
		m.mem[c] = byte(count - gone)
		m.put(c+4, m.shrink(states, blockOf(count), blockOf(count-gone)))
		m.setHigh(c)
	}
	m.setSum(c, sum+escape-escape>>1)
	m.mem[c+1] |= flagHalved
	m.found = m.states(c)
}

// blockOf is how many units the states of a context take.
func blockOf(last int) uint32 { return uint32(last+2) / 2 }

// setHigh sets the flag of a context by its symbols.
func (m *model) setHigh(c uint32) {
	flags := m.flags(c) &^ flagHigh
	for i := range m.last(c) + 1 {
		flags |= high(m.symbol(m.states(c) + uint32(i)*stateSize))
	}
	m.mem[c+1] = flags
}

// alone makes a context of one symbol of one that had more before its counts were halved.
func (m *model) alone(c, states, count, escape uint32) {
	freq := (2*uint32(m.freq(states)) + escape - 1) / escape
	m.mem[c] = 0
	m.single(c, states, uint8(min(freq, mostFreq/3)))
	m.release(states, classOf(blockOf(int(count))))
	m.found = c + 2
}

// single puts the state into the context itself.
func (m *model) single(c, state uint32, freq uint8) {
	m.mem[c+1] = m.flags(c)&flagAfterHigh + high(m.symbol(state))
	m.copyState(c+2, state)
	m.setFreq(c+2, freq)
}
