package record

import "math/bits"

const (
	markBlock  = 1 << 10 // bytes of text that are marked at once
	blockWords = markBlock / 64
)

// marks are where lines end in a text, and where the characters are that part fields or quote them. They are made where
// somebody asks, so that a text without identifiers costs nothing.
type marks struct {
	text  []byte
	lines []uint64 // '\n'
	signs []uint64 // \n \t \r " ' ( ) , : ; [ \ ] { | }
	made  []bool   // of each block
	rest  [markBlock]byte
}

// start takes a text of which nothing is marked yet.
func (m *marks) start(text []byte) {
	m.text = text
	blocks := len(text)/markBlock + 1
	if len(m.made) < blocks {
		m.made, m.lines, m.signs = make([]bool, blocks), make([]uint64, blocks*blockWords), make([]uint64, blocks*blockWords)
		return
	}
	clear(m.made)
}

// need makes the marks of text[from:to].
func (m *marks) need(from, to int) {
	for i := from / markBlock; i <= to/markBlock; i++ {
		if !m.made[i] {
			m.make(i)
		}
	}
}

// make marks block i.
func (m *marks) make(i int) {
	m.made[i] = true
	block := m.text[min(i*markBlock, len(m.text)):]
	if len(block) < markBlock {
		clear(m.rest[copy(m.rest[:], block):])
		block = m.rest[:]
	}
	to := i * blockWords
	mark(m.lines[to:to+blockWords], m.signs[to:to+blockWords], block)
}

// after is the signs from text[at] on, in its word.
func (m *marks) after(at int) uint64 { return m.signs[at>>6] &^ (1<<(at&63) - 1) }

// lineEnd finds the first line end in text[at:to], or returns -1.
func (m *marks) lineEnd(at, to int) int {
	if at >= to {
		return -1
	}
	i := at >> 6
	if !m.made[i/blockWords] {
		m.make(i / blockWords)
	}
	for word := m.lines[i] &^ (1<<(at&63) - 1); ; word = m.lines[i] {
		if word != 0 {
			if at = i<<6 + bits.TrailingZeros64(word); at < to {
				return at
			}
			return -1
		}
		if i++; i<<6 >= to {
			return -1
		}
		if i%blockWords == 0 && !m.made[i/blockWords] {
			m.make(i / blockWords)
		}
	}
}

// lineBefore finds the last line end in text[from:at], or returns -1.
func (m *marks) lineBefore(from, at int) int {
	if from >= at {
		return -1
	}
	at--
	i := at >> 6
	if !m.made[i/blockWords] {
		m.make(i / blockWords)
	}
	for word := m.lines[i] << (63 - at&63) >> (63 - at&63); ; word = m.lines[i] {
		if word != 0 {
			if at = i<<6 + 63 - bits.LeadingZeros64(word); at >= from {
				return at
			}
			return -1
		}
		if i--; i < 0 || i<<6+63 < from {
			return -1
		}
		if i%blockWords == blockWords-1 && !m.made[i/blockWords] {
			m.make(i / blockWords)
		}
	}
}

// find finds the first c, which is one of the signs, in text[at:to], or returns -1.
func (m *marks) find(c byte, at, to int) int {
	if at >= to {
		return -1
	}
	i := at >> 6
	if !m.made[i/blockWords] {
		m.make(i / blockWords)
	}
	for word := m.signs[i] &^ (1<<(at&63) - 1); ; word = m.signs[i] {
		for ; word != 0; word &= word - 1 {
			if at = i<<6 + bits.TrailingZeros64(word); at >= to {
				return -1
			}
			if m.text[at] == c {
				return at
			}
		}
		if i++; i<<6 >= to {
			return -1
		}
		if i%blockWords == 0 && !m.made[i/blockWords] {
			m.make(i / blockWords)
		}
	}
}

// count counts c, which is one of the signs, in text[at:to].
func (m *marks) count(c byte, at, to int) (n int) {
	for at = m.find(c, at, to); at >= 0; at = m.find(c, at+1, to) {
		n++
	}
	return n
}

// isSign has the bits of a character: 1 for a sign, 2 for a line end.
var isSign = func() (t [256]uint8) {
	for _, c := range "\t\r\"'(),:;[\\]{|}" {
		t[c] = 1
	}
	t['\n'] = 3
	return t
}()

// markPortable is mark for processors without a faster way.
func markPortable(lines, signs []uint64, src []byte) {
	for i := range lines {
		var line, sign uint64
		for k, c := range src[i*64 : i*64+64] {
			sign |= uint64(isSign[c]&1) << k
			line |= uint64(isSign[c]>>1) << k
		}
		lines[i], signs[i] = line, sign
	}
}
