package record

import "math/bits"

const (
	markShift  = 10 // shifts, as a division of what might be negative costs more
	wordShift  = markShift - 6
	markBlock  = 1 << markShift // bytes of text that are marked at once
	blockWords = 1 << wordShift
)

// marks are bitmaps of where lines end in a text and where the characters are that separate fields or quote them. They
// are computed on first use, so that a text without identifiers costs nothing.
type marks struct {
	text  []byte
	lines []uint64 // '\n'
	signs []uint64 // \n \t \r " ' ( ) , : ; [ \ ] { | }
	made  []bool   // of each block
	rest  [markBlock]byte
}

// startText takes a text of which nothing is marked yet.
func (m *marks) startText(text []byte) {
	m.text = text
	blocks := len(text)/markBlock + 1
	if len(m.made) < blocks {
		m.made = make([]bool, blocks)
		m.lines, m.signs = make([]uint64, blocks*blockWords), make([]uint64, blocks*blockWords)
		return
	}
	clear(m.made)
}

// ensureWord makes the marks of the block with a word of the bitmaps.
func (m *marks) ensureWord(i int) {
	if !m.made[i>>wordShift] {
		m.markBlock(i >> wordShift)
	}
}

// ensureMarked makes the marks of text[from:to].
func (m *marks) ensureMarked(from, to int) {
	for i := from >> markShift; i <= to>>markShift; i++ {
		if !m.made[i] {
			m.markBlock(i)
		}
	}
}

func (m *marks) markBlock(i int) {
	m.made[i] = true
	block := m.text[min(i*markBlock, len(m.text)):]
	if len(block) < markBlock {
		clear(m.rest[copy(m.rest[:], block):])
		block = m.rest[:]
	}
	to := i * blockWords
	markBlocks(m.lines[to:to+blockWords], m.signs[to:to+blockWords], block)
}

// signsFrom returns the signs from text[at] on, in its word.
func (m *marks) signsFrom(at int) uint64 { return m.signs[at>>6] &^ (1<<(at&63) - 1) }

// lineEnd finds the first line end in text[at:to], or returns -1.
func (m *marks) lineEnd(at, to int) int {
	if at >= to {
		return -1
	}
	i := at >> 6
	m.ensureWord(i)
	word := m.lines[i] >> (at & 63)
	for ; ; word = m.lines[i] {
		if word != 0 {
			if at += bits.TrailingZeros64(word); at < to {
				return at
			}
			return -1
		}
		if i++; i<<6 >= to {
			return -1
		}
		at = i << 6
		m.ensureWord(i)
	}
}

// lineBefore finds the last line end in text[from:at], or returns -1.
func (m *marks) lineBefore(from, at int) int {
	if from >= at {
		return -1
	}
	at--
	i := at >> 6
	m.ensureWord(i)
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
		m.ensureWord(i)
	}
}

// findSign finds the first c, which is one of the signs, in text[at:to], or returns -1.
func (m *marks) findSign(c byte, at, to int) int {
	if at >= to {
		return -1
	}
	i := at >> 6
	m.ensureWord(i)
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
		m.ensureWord(i)
	}
}

// hasNoSign says that there is no sign in text[at:to], of which marks have been made. Of more than two words it does
// not know.
func (m *marks) hasNoSign(at, to int) bool {
	if at >= to {
		return true
	}
	i, last := at>>6, (to-1)>>6
	word, unwanted := m.signs[i]>>(at&63), 63-(to-1)&63
	if i == last {
		return word<<(at&63)<<unwanted == 0
	}
	return word == 0 && i+1 == last && m.signs[last]<<unwanted == 0
}

// countSign counts c, which is one of the signs, in text[at:to].
func (m *marks) countSign(c byte, at, to int) (n int) {
	for at = m.findSign(c, at, to); at >= 0; at = m.findSign(c, at+1, to) {
		n++
	}
	return n
}

// closing finds the quote, before text[to], that ends the string which begins at text[at], or -1. A quote behind a
// backslash does not, nor do two of them where they stand for one.
func (m *marks) closing(at, to int, doubled bool) int {
	text := m.text
	quote, i := text[at], at>>6
	m.ensureWord(i)
	for word := m.signs[i] &^ (2<<(at&63) - 1); ; word = m.signs[i] {
		for ; word != 0; word &= word - 1 {
			end := i<<6 + bits.TrailingZeros64(word)
			if end >= to {
				return -1
			}
			if text[end] != quote || text[end-1] == '\\' && escaped(text, at, end) || end == at {
				continue
			}
			if !doubled || end+1 >= to || text[end+1] != quote {
				return end
			}
			at = end + 1 // not to be met again
		}
		if i++; i<<6 >= to {
			return -1
		}
		m.ensureWord(i)
	}
}

// escaped reports whether an odd number of backslashes stands before text[at], behind text[from].
func escaped(text []byte, from, at int) bool {
	slashes := 0
	for at--; at > from && text[at] == '\\'; at-- {
		slashes++
	}
	return slashes%2 == 1
}

// signMark and lineMark are the bits of a character in markOf. They are so far apart that eight characters' bits of
// either kind fit side by side.
const signMark, lineMark = 1, 1 << 8

// markOf has the marks of each character.
var markOf = func() (t [256]uint16) {
	for _, c := range "\t\r\"'(),:;[\\]{|}" {
		t[c] = signMark
	}
	t['\n'] = signMark | lineMark
	return t
}()

// markBlocks fills lines and signs, which are of one length, with the bits of src, which has 64 bytes for each of their
// words.
func markBlocks(lines, signs []uint64, src []byte) {
	for i := range lines {
		var line, sign uint64
		block := (*[64]byte)(src[i*64:])
		for k := 0; k < 64; k += 8 {
			b := (*[8]byte)(block[k:])
			eight := markOf[b[0]] | markOf[b[1]]<<1 | markOf[b[2]]<<2 | markOf[b[3]]<<3 |
				markOf[b[4]]<<4 | markOf[b[5]]<<5 | markOf[b[6]]<<6 | markOf[b[7]]<<7
			sign |= uint64(eight&0xff) << k
			line |= uint64(eight>>8) << k
		}
		lines[i], signs[i] = line, sign
	}
}
