package record

import (
	"bytes"
	"math"
	"slices"

	"github.com/vigiahq/vigia/internal/identifier"
)

// Text is a text, or a piece of one, in which identifiers are to be told.
type Text struct {
	Bytes []byte
	// Those that begin in [From, Limit) are handed out. Up to Longest to either side they are known, and Reach can be
	// seen, except where the text begins or ends.
	From, Limit  int
	Begins, Ends bool
	// Name is the file and its folders, for people and for the day in it.
	Name string
	// Mail is a mailbox or a message: each address in it stands for itself.
	Mail bool
	// SQL is a dump of a database.
	SQL bool
	// Base is how far Bytes lie behind the beginning of the text.
	Base int64
}

// StartText takes a text, in which nothing has been found yet.
func (r *Reader) StartText(t Text) {
	r.b, r.from, r.limit, r.begins, r.ends = t.Bytes, t.From, t.Limit, t.Begins, t.Ends
	r.mail, r.sql, r.base, r.found = t.Mail, t.SQL, t.Base, r.found[:0]
	r.shaped, r.counted, r.tallies, r.row = r.shaped[:0], 0, r.tallies[:0], rowPlace{}
	clear(r.tallyAt)
	r.marks.startText(t.Bytes)
	if t.Name != r.name {
		r.name, r.day = t.Name, -1
	}
	r.signed, r.numbers, r.arena = r.signed[:0], r.numbers[:0], r.arena[:0]
	r.disorder, r.keyed, r.moved, r.rows = false, false, 0, r.rows[:0]
}

// newAdder makes Add. It is no method: called through a variable, as it is for each identifier, that would be two calls.
func (r *Reader) newAdder() func(kind identifier.Kind, normal []byte, from, to int) {
	return func(kind identifier.Kind, normal []byte, from, to int) {
		n := len(r.arena)
		h := hit{from: int32(from), to: int32(to), normal: uint32(n), length: uint16(len(normal)) | r.adding, kind: kind}
		if n+shortNormal <= cap(r.arena) && len(normal) <= shortNormal && shortNormal <= cap(normal) {
			room, text := r.arena[n:n+shortNormal], normal[:shortNormal]
			*(*[16]byte)(room) = [16]byte(text) // more in one copy would go over the stack
			*(*[16]byte)(room[16:]) = [16]byte(text[16:])
			*(*[16]byte)(room[32:]) = [16]byte(text[32:])
			r.arena = r.arena[:n+len(normal)]
		} else {
			r.arena = append(r.arena, normal...)
		}
		key := kind == identifier.PixKey || kind == identifier.CNPJ && to-from > bareCNPJ
		if kind == identifier.Email || key {
			r.keyed = r.keyed || key
			if n := len(r.signed); n > 0 && r.signed[n-1].from >= h.from {
				r.signed = r.putBack(append(r.signed, h))
			} else {
				r.signed = append(r.signed, h)
			}
			return
		}
		if n := len(r.numbers); n > 0 && r.numbers[n-1].from >= h.from {
			r.numbers = r.putBack(append(r.numbers, h))
		} else {
			r.numbers = append(r.numbers, h)
		}
	}
}

// bareCNPJ is how long a CNPJ is without its punctuation.
const bareCNPJ = 14

// shortNormal is what most normal forms are no longer than. They are copied with what follows them, which takes no
// call.
const shortNormal = 48

// AddWeak takes a reading of digits that counts only if the column it stands in says that it is one.
func (r *Reader) AddWeak(kind identifier.Kind, normal []byte, from, to int) {
	r.addHit(kind, normal, from, to, weak)
}

// addHit takes an identifier with its marks.
func (r *Reader) addHit(kind identifier.Kind, normal []byte, from, to int, marks uint16) {
	r.adding = marks
	r.Add(kind, normal, from, to)
	r.adding = 0
}

// putBack moves the last of hits to its place, unless it is there already. Most that are out of order were found in the
// same stretch of text; if too many are not, all are sorted later.
func (r *Reader) putBack(hits []hit) []hit {
	if r.disorder = r.disorder || r.moved > 64*len(hits); r.disorder {
		return hits
	}
	k := len(hits) - 1
	h := hits[k]
	for ; k > 0 && hits[k-1].from > h.from; k-- {
		hits[k] = hits[k-1]
		r.moved++
	}
	hits[k] = h
	if k > 0 && r.isSameHit(hits[k-1], h) {
		return slices.Delete(hits, k, k+1)
	}
	return hits
}

// isSameHit reports whether b is what a is: found as it stands and decoded.
func (r *Reader) isSameHit(a, b hit) bool {
	return a.from == b.from && a.to == b.to && a.kind == b.kind && a.length == b.length && string(r.normalOf(a)) == string(r.normalOf(b))
}

// SurveyText reads what the text says of its rows, before any row is told. What it returns makes the State after the text
// of the one before it.
func (r *Reader) SurveyText() func(State) State {
	r.decideNumbers()
	r.mergeHits()
	r.splitLines(r.begins)
	r.surveyLines(r.from, r.limit, r.begins, r.sql)
	events := append([]event(nil), r.events...)
	sql := r.sql
	return func(s State) State {
		s.sql = sql
		return s.foldEvents(events)
	}
}

// TellRecords hands out the identifiers with their records, given the State before the text.
func (r *Reader) TellRecords(before func() State) {
	r.state, r.asked, r.tuple, r.barren, r.block = State{}, false, 0, 0, segment{}
	r.before = before
	lines := r.lines
	for n := len(lines) - 1; n >= 0 && int(lines[n].from) >= r.limit && int(r.hits[lines[n].first].from) >= r.limit; n-- {
		lines = lines[:n] // of the piece after
	}
	events := r.events
	k := 0 // hit
	for i := range lines {
		l := &lines[i]
		for len(events) > 0 && events[0].at < int(l.from) {
			r.applyEvent(&events[0])
			events = events[1:]
		}
		if int(l.to) <= r.from {
			continue // belongs to the piece before
		}
		for k = max(k, int(l.first)); k < int(l.last); {
			r.since = max(r.hits[k].from, int32(r.from))
			r.fresh = true
			k += r.tellRecord(l, i, k)
		}
	}
	r.before = nil
}

// applyEvent moves the State over an event.
func (r *Reader) applyEvent(e *event) {
	if !r.asked {
		r.state, r.asked = r.before(), true
	}
	r.state = r.state.afterEvent(*e)
}

// inForce returns the State at the current position. It is fetched on first use: a text that does not need it does not
// wait for the pieces before it.
func (r *Reader) inForce() *State {
	if !r.asked {
		r.state, r.asked = r.before(), true
	}
	return &r.state
}

// mergeHits puts what was told by signs and by digits in one order.
func (r *Reader) mergeHits() {
	count, last := len(r.signed)+len(r.numbers), hit{from: math.MaxInt32}
	r.signed, r.numbers = append(r.signed, last), append(r.numbers, last)
	r.hits = slices.Grow(r.hits[:0], count)[:count]
	a, n := r.signed, r.numbers
	i, k := 0, 0
	for at := range r.hits {
		// Without a branch, which would be a guess.
		next, second := &a[i], 0
		if other := &n[k]; other.from < next.from {
			next, second = other, 1
		}
		r.hits[at] = *next
		i, k = i+1-second, k+second
	}
	if r.disorder {
		slices.SortStableFunc(r.hits, func(a, b hit) int { return int(a.from - b.from) })
		r.hits = slices.CompactFunc(r.hits, r.isSameHit)
	}
	if r.keyed {
		r.sortSameStart()
	}
}

// sortSameStart puts keys and numbers that begin in the same place into the order in which they were found.
func (r *Reader) sortSameStart() {
	hits, before := r.hits, int32(-1)
	for i := range hits {
		if hits[i].from != before { // as most
			before = hits[i].from
			continue
		}
		for k := i; k > 0; k-- {
			a, b := &hits[k-1], &hits[k]
			if a.from != b.from || a.kind == identifier.Email || a.normal <= b.normal {
				break
			}
			*a, *b = *b, *a
		}
	}
}

// normalOf returns the normal form of a hit.
func (r *Reader) normalOf(h hit) []byte { return r.arena[h.normal:][:h.length&^marked] }

// tellRecord tells the record of hit k, which stands in l, which is line i, and returns how many hits it handed out. What
// describes itself comes before what a header says.
func (r *Reader) tellRecord(l *line, i, k int) int {
	if r.mail || l.long {
		return r.unlined(i, k)
	}
	first := r.b[l.text]
	if leads[first] != 0 || l.text > l.from {
		if n := r.described(i, k, first); n > 0 {
			return n
		}
	}
	hits := r.hits[k:l.last]
	if in := r.inForce().layout; in != nil && r.readTableRow(l, hits, in) || len(r.rows) > 0 && r.fixedRow(l, hits) {
		return len(hits)
	}
	all := len(hits)
	if all > 1 || hits[0].length&weak != 0 {
		if hits = strongHits(hits); len(hits) == 0 { // they may still be those of a block
			return max(all, r.inBlock(i, k))
		}
	}
	if hits[0].from > l.text && kindOf[first] != hasDigit { // else it cannot have a label, nor an address
		if n := r.inBlock(i, k); n > 0 {
			return n
		}
		if r.credential(i, hits) {
			return all
		}
	}
	if !r.readComboLine(l, i, hits) && !r.headless(i, hits) {
		r.handOutUntold(hits)
	}
	return all
}

// unlined tells the record of a hit where lines are none: in mail, or where they are longer than a record.
func (r *Reader) unlined(i, k int) int {
	if r.mail {
		hits := r.hits[k:r.lines[i].last]
		r.handOutAlone(hits)
		return len(hits)
	}
	return r.inLongLine(i, k)
}

// What a line may be by its first character.
const (
	leadsTuple uint8 = 1 + iota
	leadsStatement
	leadsObject
	leadsMarkup
)

var leads = [256]uint8{
	'(': leadsTuple, 'I': leadsStatement, 'i': leadsStatement, 'R': leadsStatement, 'r': leadsStatement, 'V': leadsStatement, 'v': leadsStatement,
	'{': leadsObject, '[': leadsObject, '}': leadsObject, ']': leadsObject, ',': leadsObject, '\t': leadsObject, '<': leadsMarkup,
}

// described tells the record of hit k, which stands in line i, if that is written in a way that describes itself. The text
// of the line begins with first.
func (r *Reader) described(i, k int, first byte) int {
	l := &r.lines[i]
	switch leads[first] {
	case leadsTuple, leadsStatement:
		if first == '(' || r.beginsStatement(int(l.text)) {
			if n := r.inTuple(i, k); n > 0 {
				return n
			}
		}
	case leadsObject:
		if n := r.inObject(i, k); n > 0 {
			return n
		}
	case leadsMarkup:
		hits := r.hits[k:l.last]
		if isMarkupRow(r.b[l.text:l.to]) {
			r.handOutAlone(hits)
		} else {
			r.handOutUntold(hits)
		}
		return len(hits)
	}
	if l.text > l.from { // "name": of JSON over many lines, or a field in quotes
		return r.inObject(i, k)
	}
	return 0
}

// inLongLine tells the record of a hit in a line that is longer than a record.
func (r *Reader) inLongLine(i, k int) int {
	if n := r.inObject(i, k); n > 0 {
		return n
	}
	if c := r.b[max(0, int(r.hits[k].from)-1)]; c == '\'' || c == '"' || c == ',' || c == '(' || c == ' ' || c == '+' {
		if n := r.inTuple(i, k); n > 0 {
			return n
		}
	}
	r.handOutUntold(r.hits[k : k+1])
	return 1
}

// beginsStatement reports whether b[at:] begins with a word of SQL.
func (r *Reader) beginsStatement(at int) bool {
	text := r.b[at:min(len(r.b), at+10)]
	return keyword(text, 0, "insert") > 0 || keyword(text, 0, "replace") > 0 || keyword(text, 0, "values") > 0
}

// isMarkupRow reports whether a line is a row of an HTML table.
func isMarkupRow(text []byte) bool {
	return bytes.HasPrefix(text, []byte("<tr")) || bytes.HasPrefix(text, []byte("<TR")) || bytes.HasPrefix(text, []byte("<row"))
}
