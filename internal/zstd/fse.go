package zstd

import "math/bits"

// state is one entry of a table of finite state entropy: what it stands for, and how the next state follows from the
// stream.
type state struct {
	base  uint32 // the value, or its least one
	next  uint16 // of the next state, to which bits are added
	extra uint8  // bits that are added to the value
	bits  uint8  // bits that are added to next
}

// table has a power of two of states.
type table struct {
	states []state
	log    int
}

// readCounts reads how often each symbol stands in a table: -1 is less than once. It returns the bytes it took.
func readCounts(data []byte, maxLog, maxSymbol int) (counts []int16, log, taken int, ok bool) {
	f := forward{data: data}
	log = f.peek(4) + 5
	f.at = 4
	if log > maxLog {
		return nil, 0, 0, false
	}
	for left := 1 << log; left > 0; {
		k := bits.Len(uint(left + 1))
		v, low := f.peek(k), 1<<(k-1)-1
		short := 1<<k - 1 - (left + 1) // so many values are written with a bit less
		switch {
		case v&low < short:
			v &= low
			f.at += k - 1
		case v > low:
			v -= short
			f.at += k
		default:
			f.at += k
		}
		count := v - 1
		left -= max(count, -count)
		counts = append(counts, int16(count))
		for again := count == 0; again; {
			zeros := f.peek(2)
			f.at += 2
			counts = append(counts, make([]int16, zeros)...)
			again = zeros == 3
		}
		if left < 0 || len(counts) > maxSymbol+1 || f.at > 8*len(data) {
			return nil, 0, 0, false
		}
	}
	return counts, log, (f.at + 7) / 8, true
}

// build lays the symbols out over the states of a table and works out how each goes on. value tells what a symbol
// stands for.
func (t *table) build(counts []int16, log int, value func(symbol int) (base uint32, extra uint8)) {
	size := 1 << log
	t.log = log
	if cap(t.states) < size {
		t.states = make([]state, size)
	}
	t.states = t.states[:size]
	var symbols [1 << 9]uint8
	var next [256]uint16
	high := size - 1
	for s, c := range counts {
		next[s] = uint16(max(c, 1))
		if c == -1 {
			symbols[high] = uint8(s)
			high--
		}
	}
	at, step := 0, size>>1+size>>3+3
	for s, c := range counts {
		for range c { // nothing for -1
			symbols[at] = uint8(s)
			for at = (at + step) & (size - 1); at > high; {
				at = (at + step) & (size - 1)
			}
		}
	}
	for i := range t.states {
		s := symbols[i]
		n := next[s]
		next[s]++
		k := log - bits.Len16(n) + 1
		base, extra := value(int(s))
		t.states[i] = state{base: base, extra: extra, bits: uint8(k), next: n<<k - uint16(size)}
	}
}

// single makes a table of one symbol, which needs no bits.
func (t *table) single(base uint32, extra uint8) {
	t.log = 0
	t.states = append(t.states[:0], state{base: base, extra: extra})
}
