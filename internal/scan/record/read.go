package record

import (
	"bytes"
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
}

// Start takes a text, in which nothing has been found yet.
func (r *Reader) Start(t Text) {
	r.b, r.from, r.limit, r.begins, r.ends = t.Bytes, t.From, t.Limit, t.Begins, t.Ends
	r.mail, r.sql = t.Mail, t.SQL
	r.marks.start(t.Bytes)
	if t.Name != r.name {
		r.name, r.day = t.Name, -1
	}
	r.addresses, r.numbers, r.arena = r.addresses[:0], r.numbers[:0], r.arena[:0]
	r.disorder, r.repeated, r.moved, r.rows = false, false, 0, r.rows[:0]
}

// Add takes an identifier in normal form that was found at [from, to) of the text. Most addresses come in order, and so
// do most others.
func (r *Reader) Add(kind identifier.Kind, normal []byte, from, to int) {
	h := hit{from: int32(from), to: int32(to), normal: uint32(len(r.arena)), length: uint16(len(normal)) | r.adding, kind: kind}
	r.arena = append(r.arena, normal...) // 32 bytes of each, without a call, were no faster
	if kind == identifier.Email {
		n := len(r.addresses)
		if r.addresses = append(r.addresses, h); n > 0 && r.addresses[n-1].from >= h.from {
			r.putBack(r.addresses)
		}
		return
	}
	if kind == identifier.Phone && from > 0 && r.b[from-1] == '+' {
		h.from--
	}
	n := len(r.numbers)
	if r.numbers = append(r.numbers, h); n > 0 {
		if last := &r.numbers[n-1]; last.from > h.from || last.from == h.from && last.kind == kind {
			r.putBack(r.numbers)
		}
	}
}

// AddWeak takes a reading of digits that counts only if the column it stands in says that it is one.
func (r *Reader) AddWeak(kind identifier.Kind, normal []byte, from, to int) {
	r.add(kind, normal, from, to, weak)
}

// add takes an identifier with its marks.
func (r *Reader) add(kind identifier.Kind, normal []byte, from, to int, marks uint16) {
	r.adding = marks
	r.Add(kind, normal, from, to)
	r.adding = 0
}

// putBack moves the last of hits to its place. Most that are out of order were found in the same stretch of text; if too
// many are not, all are sorted later.
func (r *Reader) putBack(hits []hit) {
	if r.disorder = r.disorder || r.moved > 64*len(hits); r.disorder {
		return
	}
	k := len(hits) - 1
	h := hits[k]
	for ; k > 0 && hits[k-1].from > h.from; k-- {
		hits[k] = hits[k-1]
		r.moved++
	}
	hits[k] = h
	r.repeated = r.repeated || k > 0 && hits[k-1].from == h.from
}

// Survey reads what the text says of its rows, before any row is told. What it returns makes the State after the text
// of the one before it.
func (r *Reader) Survey() func(State) State {
	r.merge()
	r.split(r.begins)
	r.survey(r.from, r.limit, r.begins, r.sql)
	events := append([]event(nil), r.events...)
	sql := r.sql
	return func(s State) State {
		s.sql = sql
		return s.fold(events)
	}
}

// Tell hands out the identifiers with their records, given the State before the text.
func (r *Reader) Tell(before func() State) {
	r.state, r.asked, r.tuple, r.barren, r.block = State{}, false, 0, 0, segment{}
	r.before = before
	next := 0 // event
	for i, k := 0, 0; i < len(r.lines); i++ {
		end := r.endOf(i)
		if int(r.lines[i].from) >= r.limit && int(r.hits[r.lines[i].first].from) >= r.limit {
			break
		}
		for next < len(r.events) && r.events[next].at < int(r.lines[i].from) {
			r.apply(r.events[next])
			next++
		}
		if int(r.lines[i].to) <= r.from {
			continue // belongs to the piece before
		}
		for k = max(k, int(r.lines[i].first)); k < end; {
			r.since = r.hits[k].from
			k += r.record(i, k, end)
		}
	}
	r.before = nil
}

// apply moves the State over an event.
func (r *Reader) apply(e event) {
	if !r.asked {
		r.state, r.asked = r.before(), true
	}
	r.state = r.state.after(e)
}

// inForce is the State where the reading stands. Whoever does not need it does not wait for it.
func (r *Reader) inForce() *State {
	if !r.asked {
		r.state, r.asked = r.before(), true
	}
	return &r.state
}

// merge puts addresses and numbers in one order.
func (r *Reader) merge() {
	a, n := r.addresses, r.numbers
	r.hits = slices.Grow(r.hits[:0], len(a)+len(n))[:len(a)+len(n)]
	i, k := 0, 0
	for i < len(a) && k < len(n) {
		// Without a branch, which would be a guess.
		next, second := &a[i], 0
		if n[k].from < next.from {
			next, second = &n[k], 1
		}
		r.hits[i+k] = *next
		i, k = i+1-second, k+second
	}
	copy(r.hits[i+k:], a[i:])
	copy(r.hits[i+k:], n[k:])
	if r.disorder {
		slices.SortStableFunc(r.hits, func(a, b hit) int { return int(a.from - b.from) })
	}
	if r.disorder || r.repeated {
		r.hits = slices.CompactFunc(r.hits, func(a, b hit) bool { // found as it is and decoded
			return a.from == b.from && a.to == b.to && a.kind == b.kind && a.length == b.length && string(r.normalOf(a)) == string(r.normalOf(b))
		})
	}
}

// normalOf is the normal form of a hit that has no marks but being weak.
func (r *Reader) normalOf(h hit) []byte { return r.arena[h.normal:][:h.length&^weak] }

// record tells the record of hit k, which stands in line i, whose hits end before end. It returns how many hits it
// handed out. What describes itself comes before what a header says.
func (r *Reader) record(i, k, end int) int {
	l := &r.lines[i]
	hits := r.hits[k:end]
	if r.mail {
		r.alone(hits)
		return len(hits)
	}
	if l.long {
		return r.inLongLine(i, k)
	}
	start := r.start(l)
	first := r.b[start]
	switch first {
	case '(', 'I', 'i', 'R', 'r', 'V', 'v':
		if first == '(' || r.beginsStatement(start) {
			if n := r.inTuple(i, k); n > 0 {
				return n
			}
		}
	case '{', '[', '}', ']', ',', '\t':
		if n := r.inObject(i, k); n > 0 {
			return n
		}
	case '<':
		if markup(r.b[start:l.to]) {
			r.alone(hits)
		} else {
			r.untold(hits)
		}
		return len(hits)
	}
	if start > int(l.from) { // "name": of JSON over many lines, or a field in quotes
		if n := r.inObject(i, k); n > 0 {
			return n
		}
	}
	if in := r.inForce().layout; in != nil && r.table(l, hits, in) || len(r.rows) > 0 && r.fixedRow(l, hits) {
		return len(hits)
	}
	all := len(hits)
	hits = strong(hits)
	if len(hits) == 0 { // they may still be those of a block
		return max(all, r.inBlock(i, k))
	}
	if int(hits[0].from) > start && kindOf[first] != hasDigit { // else it cannot have a label, nor an address
		if n := r.inBlock(i, k); n > 0 {
			return n
		}
		if r.credential(i, hits) {
			return all
		}
	}
	if !r.combo(i, hits) && !r.headless(i, hits) {
		r.untold(hits)
	}
	return all
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
	r.untold(r.hits[k : k+1])
	return 1
}

// beginsStatement says whether b[at:] begins with a word of SQL.
func (r *Reader) beginsStatement(at int) bool {
	text := r.b[at:min(len(r.b), at+10)]
	return keyword(text, 0, "insert") > 0 || keyword(text, 0, "replace") > 0 || keyword(text, 0, "values") > 0
}

// markup says whether a line is a row of an HTML table.
func markup(text []byte) bool {
	return bytes.HasPrefix(text, []byte("<tr")) || bytes.HasPrefix(text, []byte("<TR")) || bytes.HasPrefix(text, []byte("<row"))
}
