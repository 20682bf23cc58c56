package record

import (
	"bytes"
	"math/bits"
)

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

// SurveyText reads what the text says of its rows, before any row is told. What it returns makes the State after the
// text of the one before it.
func (r *Reader) SurveyText() func(State) State {
	r.decideNumbers()
	r.mergeHits()
	r.splitLines(r.begins)
	r.surveyLines(r.from, r.limit, r.begins, r.sql)
	events := append([]event(nil), r.events...)
	sql := r.sql
	return func(s State) State {
		s.IsDump = sql
		for _, e := range events {
			s = s.afterEvent(e)
		}
		return s
	}
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
