package record

import (
	"bytes"
	"math/bits"
)

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
		m.made, m.lines, m.signs = make([]bool, blocks), make([]uint64, blocks*blockWords), make([]uint64,
			blocks*blockWords)
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

const (
	// A header stands next to rows: so many lines beside a gap in them are looked at, and at the top of a text some
	// more.
	besideRows, atTop = 2, 24
	// headerReach is how far that goes in bytes.
	headerReach = 2 << 10
	// statementLongest is how long the beginning of a statement may be: a definition of a table.
	statementLongest = 16 << 10
)

// IsSQL reports whether a text that begins like this is a dump of a database, whose statements say far ahead of the
// rows what is in them.
func IsSQL(head []byte) bool {
	head = head[:min(len(head), 32<<10)]
	for _, sign := range [...]string{
		"-- MySQL dump",
		"-- MariaDB dump",
		"-- PostgreSQL database dump",
		"-- phpMyAdmin SQL",
		"CREATE TABLE ",
		"create table ",
		"INSERT INTO ",
		"insert into ", "SQLite format", "BEGIN TRANSACTION;",
	} {
		if bytes.Contains(head, []byte(sign)) {
			return true
		}
	}
	at := bytes.Index(head, []byte("COPY "))
	return at == 0 || at > 0 && head[at-1] == '\n'
}

// splitLines finds the lines of the hits, and where there are others between them. begins says that the text begins
// with r.b. Each byte is searched for a line end at most once in either direction, however long lines are.
func (r *Reader) splitLines(begins bool) {
	r.lines, r.gaps = r.lines[:0], r.gaps[:0]
	start, clear := 0, 0 // the line that is read begins at start, and up to clear it has not ended
	if !begins {
		start = -Longest - 1
	}
	before := -1 // where the last line with hits ended
	for i := 0; i < len(r.hits); {
		h := &r.hits[i]
		at, end := int(h.from), min(len(r.b), int(h.from)+Longest+1)
		if at > clear {
			start = r.lineStart(start, clear, at)
			clear = at
		}
		ended := -1
		if search := max(clear, int(h.to)); search < end { // there is none in an identifier
			if ended = r.marks.lineEnd(search, end); ended >= 0 {
				end = ended
			}
		}
		clear = max(clear, end)
		if end-start > Longest { // the next one in it is a line of its own
			r.noteGap(at, before)
			before, i = int(h.to), i+1
			r.lines = append(
				r.lines,
				line{from: h.from, to: h.to, text: h.from, end: h.to, first: int32(i - 1), last: int32(i), long: true},
			)
			continue
		}
		r.noteGap(start, before)
		r.marks.ensureMarked(start, end)
		before, i = end, r.noteLine(i, start, end)
		if ended >= 0 {
			if i, before = r.followLines(i, ended); before > ended {
				start, clear = int(r.lines[len(r.lines)-1].from), before
			}
		}
	}
	r.noteGap(len(r.b), before)
}

// noteGap notes that the line that begins at b[from] does not follow the one that ended at b[before].
func (r *Reader) noteGap(from, before int) {
	if from-before > 1 {
		r.gaps = append(r.gaps, int32(len(r.lines)))
	}
}

// followLines reads the lines with hits from hit i on that follow the one that ended at b[ended] and each other, as
// most do. It returns the first hit that is in none of them, and where the last of them ended.
func (r *Reader) followLines(i, ended int) (next, last int) {
	m, w := &r.marks, ended>>6
	ends := m.lines[w] &^ (2<<(ended&63) - 1) // of lines, in the word that is read
	for i < len(r.hits) {
		h := &r.hits[i]
		if int(h.from)-ended > Longest || int(h.from) <= ended {
			break
		}
		limit := min(len(r.b), int(h.from)+Longest+1)
		for ends == 0 {
			if w++; w<<6 >= limit {
				return i, ended
			}
			m.ensureWord(w)
			ends = m.lines[w]
		}
		end := w<<6 + bits.TrailingZeros64(ends)
		if end < int(h.to) || end >= limit || end-ended > Longest+1 {
			break
		}
		ends &= ends - 1
		i, ended = r.noteLine(i, ended+1, end), end
	}
	return i, ended
}

// noteLine notes the line b[from:to], which hit i is the first one of, and returns the hit after its last one.
func (r *Reader) noteLine(i, from, to int) int {
	first, hits, text, end := i, r.hits, from, to
	for i++; i < len(hits) && int(hits[i].from) < to; i++ {
	}
	for text < to && beforeText[r.b[text]] {
		text++
	}
	if to > from && r.b[to-1] == '\r' {
		end--
	}
	r.lines = append(
		r.lines,
		line{from: int32(from), to: int32(to), text: int32(text), end: int32(end), first: int32(first), last: int32(i)},
	)
	return i
}

// beforeText is what may stand before the first value of a line: spaces, quotes, the mark of the order of bytes.
var beforeText = [256]bool{' ': true, '"': true, 0xef: true, 0xbb: true, 0xbf: true}

// lineStart finds where the line with b[at] begins, if the one that is known to go on to clear began at start.
func (r *Reader) lineStart(start, clear, at int) int {
	low := max(clear, at-Longest-1)
	if n := r.marks.lineBefore(low, at); n >= 0 {
		return n + 1
	}
	if low > clear {
		return low - 1 // too far away
	}
	return start
}

// surveyLines looks for what says something of the rows, in the lines beside those with hits in [from, limit).
func (r *Reader) surveyLines(from, limit int, begins, sql bool) {
	r.events = r.events[:0]
	if sql {
		r.statements(from, limit)
		return
	}
	if begins && from == 0 {
		stop := len(r.b)
		if len(r.lines) > 0 {
			stop = int(r.lines[0].from)
		}
		r.headers(0, min(stop, headerReach), atTop)
	}
	for _, g := range r.gaps {
		covered, after := false, len(r.b)
		if int(g) < len(r.lines) {
			after = int(r.lines[g].from)
		}
		before := -1 // where the line with hits before it ends
		if g > 0 {
			before = int(r.lines[g-1].to)
		}
		if g > 0 && r.lines[g-1].beginsWithin(from, limit) && after-before > 2 {
			covered = r.headers(before+1, min(after, before+headerReach), besideRows) >= after
		}
		if !covered && int(g) < len(r.lines) && r.lines[g].beginsWithin(from, limit) {
			r.linesBefore(before, after)
		}
	}
}

// beginsWithin reports whether a line that is no part of a longer one begins in [from, limit).
func (l *line) beginsWithin(from, limit int) bool {
	return !l.long && int(l.from) >= from && int(l.from) < limit
}

// linesBefore reads the last lines of a gap that ends with the line at b[to].
func (r *Reader) linesBefore(gap, to int) {
	low := max(gap+1, 0, to-headerReach)
	at, n := to, 0
	for ; n < besideRows && at > low; n++ {
		prev := r.marks.lineBefore(low, at-1)
		if prev < 0 {
			if low == gap+1 || low == 0 {
				at = low
			}
			break
		}
		at = prev + 1
	}
	if at < to {
		r.headers(at, to, besideRows)
	}
}

// headers reads up to most lines of b[from:to] as headers or statements and returns how far it came.
func (r *Reader) headers(from, to, most int) int {
	for ; most > 0 && from < to; most-- {
		end := to
		if n := r.marks.lineEnd(from, to); n >= 0 {
			end = n
		} else if to < len(r.b) && r.b[to] != '\n' && (to == 0 || r.b[to-1] != '\n') {
			return from // goes on
		}
		if text := r.b[from:end]; len(text) >= 3 {
			if !r.statement(from, text) {
				if l := r.readHeader(from, end); l != nil {
					r.events = append(r.events, event{at: from, layout: l})
				}
			}
		}
		from = end + 1
	}
	return from
}

// statements reads all lines that begin in b[from:limit] as statements.
func (r *Reader) statements(from, limit int) {
	at := from
	if at > 0 && r.b[at-1] != '\n' {
		n := bytes.IndexByte(r.b[at:limit], '\n')
		if n < 0 {
			return
		}
		at += n + 1
	}
	for at < limit {
		r.statement(at, r.b[at:])
		n := bytes.IndexByte(r.b[at:limit], '\n')
		if n < 0 {
			return
		}
		at += n + 1
	}
}

// statement reads a line that may begin a statement or end the rows of one. text begins with the line.
func (r *Reader) statement(at int, text []byte) bool {
	if len(text) < 2 {
		return false
	}
	var e event
	switch lowered(text[0]) {
	case 'i', 'r':
		var end int
		if e.layout, e.table, end = r.readInsert(r.b[at:min(len(r.b), at+statementLongest)]); end == 0 {
			return false
		}
	case 'c':
		text = r.b[at:min(len(r.b), at+statementLongest)]
		if e.layout, e.table = r.copyFrom(text); e.layout == nil {
			if e.layout, e.table = r.definition(text); e.layout == nil {
				return false
			}
			e.defines = true
		}
	case '\\':
		if text[1] != '.' {
			return false
		}
	default:
		return false
	}
	e.at = at
	r.events = append(r.events, e)
	return true
}
