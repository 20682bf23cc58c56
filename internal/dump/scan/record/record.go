// Package record finds out which record of a dump an identifier belongs to, and what else that record holds.
//
// The scanner finds identifiers; this package looks at the bytes around them: a line, an SQL tuple, a JSON object, a
// labelled block. It claims a class of data only where a column name, a label, a place in a combo list or an
// unmistakable shape says so and the value is there. Where it cannot tell records apart it reports the identifier as
// not told, and in doubt it claims nothing: a person alerted to a password that never leaked will not believe the next
// alert.
//
// Invariants: a text without identifiers costs nothing; what is said of an identifier depends on the bytes within Reach
// of it and on the Layout in force there, never on where a text was cut into pieces; nothing that was read is kept.
package record

import (
	"bytes"
	"math"
	"slices"

	"github.com/vigiahq/vigia/internal/identifier"
)

const (
	// Longest is the most bytes that a record may have; what is longer has no records that can be told apart.
	Longest = 8 << 10
	// Known is how far to either side of a piece of text identifiers are looked for: as far as its records go, and as
	// far as the columns of what stands in them are surveyed.
	Known = Longest + 2*columnCell
	// Reach is how far from an identifier the text must be seen, neighbouring records included.
	Reach = Known + columnReach + 512
)

// Classes is a set of the classes of data that a breach can expose, a bit for each in the order of the vocabulary.
type Classes uint16

// The classes, in the order in which the vocabulary is documented. The last two of it, health and other, are also here
// so that every set of the vocabulary can be written down.
const (
	Email Classes = 1 << iota
	Password
	PasswordHash
	CPF
	Phone
	Card
	Address
	Name
	BirthDate
	Document
	Health
	Financial
	Cookies
	IP
	Username
	Other
)

// Has reports whether all of the classes of other are in the set.
func (c Classes) Has(other Classes) bool { return c&other == other }

// ofKind maps the kind of an identifier to the class of data that it exposes of the person whose record it is in. A
// CNPJ is missing: a company's number is no document of a person who works there.
var ofKind = [identifier.NumKinds]Classes{
	identifier.Email:  Email,
	identifier.CPF:    CPF,
	identifier.Phone:  Phone,
	identifier.Card:   Card,
	identifier.PixKey: Financial,
}

// ofItself returns the class that an identifier is itself.
func ofItself(kind identifier.Kind) Classes {
	if kind == identifier.CNPJ {
		return Other
	}
	return ofKind[kind]
}

// ClassesOf returns what an identifier says of the record that it stands in, and what is told of it beside that.
func ClassesOf(kind identifier.Kind) (ofRecord, itself Classes) { return ofKind[kind], ofItself(kind) }

// Sighting is one identifier with what stood in its record. All bytes are valid during the call only.
type Sighting struct {
	Kind   identifier.Kind
	Normal []byte
	// Told says that the record could be told apart. If not, all that is known is that the identifier was there, and
	// Classes holds no more than that.
	Told bool
	// Classes are what stands in the record with a value, the identifier itself included.
	Classes Classes
	// Password is that of the record as it was typed, without the quotes and escapes of its format; nil when the record
	// has none in the clear, or more than one.
	Password []byte
	// Site is the host that the credential is for, in lower case, and Day the day since 1970 on which it was taken,
	// both of stealer logs; nil and zero when unknown.
	Site []byte
	Day  int32
	// First says that it is the first identifier handed out of its record.
	First bool
}

// Found receives the identifiers of a text with their records.
type Found func(*Sighting)

// hit is an identifier found in the text. Its normal form is kept in the arena.
type hit struct {
	from, to int32
	normal   uint32
	length   uint16
	kind     identifier.Kind
	surveyed bool // its column said what it is
}

// line is a line of the text with identifiers in it: the hits from first up to last. One that is longer than a record
// is as many lines as it has identifiers, which each begins and ends with.
type line struct {
	from, to    int32
	text, end   int32 // without what may stand before a value, and without the carriage return
	first, last int32
	// What its neighbours ask of it, once it is known.
	form    form
	count   int32
	counted byte // the separator of which it has count
	long    bool
}

// Reader tells the records of one text after another. It is not safe for use by several goroutines.
type Reader struct {
	// Add takes an identifier in normal form that was found at [from, to) of the text. Those that are told by signs
	// come in order, and so do those that are told by digits, most of them.
	Add func(kind identifier.Kind, normal []byte, from, to int)

	sighted Found
	// Name is the file, and the folders, that the text lies in: the logs of stealers name the day there.
	name string
	day  int32 // of name; -1 when it was not asked for
	mail bool

	// The text, as Text describes it.
	b            []byte
	from, limit  int
	since        int32 // what begins before has been handed out
	begins, ends bool
	sql          bool
	marks        marks
	base         int64 // how far the text lies behind its beginning
	// The numbers of the text, and what is counted of their columns.
	found     []numeral
	shaped    []numeral // those whose spelling leaves no doubt
	counted   int       // so many of shaped were counted
	unordered bool
	readings  [2][shortNormal]byte
	tallies   []tally
	tallyAt   map[uint64]int32
	tallyNear [1 << 10]int32
	row       rowPlace
	// What was found in it: what is told by signs, as addresses are, and numbers, as they come, then both in one order.
	signed, numbers, hits []hit
	disorder              bool   // they are not in order
	keyed                 bool   // not all that were told by signs are addresses
	adding                uint16 // the marks of what is added
	moved                 int    // by how many places hits were put back
	rows                  []row
	arena                 []byte
	lines                 []line
	gaps                  []int32 // the lines before which, or behind the last, there are others
	events                []event
	state                 State
	before                func() State
	asked                 bool // whether before was

	// What is known of the record being read, and room to read it.
	out     Sighting
	fresh   bool // nothing of it has been handed out
	fields  []field
	cells   []cell
	places  []int // the fields of the hits
	objects []object
	members []member
	group   []hit
	pairs   []pair
	text    []byte // a value without its escapes
	site    [longestHost]byte
	tuple   int // where the next tuple may begin
	barren  int // a long line has no tuple up to here, as far as is looked back
	block   segment

	columns map[string]column // what names say
	keys    [32]key
	labels  [64]key // by their first and last letters and their length
	last    statement
}

// NewReader makes a Reader that calls found.
func NewReader(found Found) *Reader {
	r := &Reader{sighted: found, columns: map[string]column{}, tallyAt: map[uint64]int32{}, day: -1}
	r.Add = r.newAdder()
	return r
}

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

// newAdder makes Add. It is no method: called through a variable, as it is for each identifier, that would be two
// calls.
func (r *Reader) newAdder() func(kind identifier.Kind, normal []byte, from, to int) {
	return func(kind identifier.Kind, normal []byte, from, to int) {
		n := len(r.arena)
		h := hit{
			from:   int32(from),
			to:     int32(to),
			normal: uint32(n),
			length: uint16(len(normal)) | r.adding,
			kind:   kind,
		}
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
	return a.from == b.from && a.to == b.to && a.kind == b.kind && a.length == b.length &&
		string(r.normalOf(a)) == string(r.normalOf(b))
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

// TellRecords hands out the identifiers with their records, given the State before the text.
func (r *Reader) TellRecords(before func() State) {
	r.state, r.asked, r.tuple, r.barren, r.block = State{}, false, 0, 0, segment{}
	r.before = before
	lines := r.lines
	for n := len(lines) - 1; n >= 0 && int(lines[n].from) >= r.limit &&
		int(r.hits[lines[n].first].from) >= r.limit; n-- {
		lines = lines[:n] // of the piece after
	}
	events := r.events
	k := 0 // hit
	for i := range lines {
		l := &lines[i]
		for len(events) > 0 && events[0].at < int(l.from) {
			r.state = r.inForce().afterEvent(events[0])
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

// tellRecord tells the record of hit k, which stands in l, which is line i, and returns how many hits it handed out.
// What describes itself comes before what a header says.
func (r *Reader) tellRecord(l *line, i, k int) int {
	if r.mail {
		r.handOutAlone(r.hits[k:l.last])
		return int(l.last) - k
	}
	if l.long {
		return r.inLongLine(i, k)
	}
	first := r.b[l.text]
	if leads[first] != 0 || l.text > l.from {
		if n := r.described(i, k, first); n > 0 {
			return n
		}
	}
	hits := r.hits[k:l.last]
	if in := r.inForce().Layout; in != nil && r.readTableRow(l, hits, in) || len(r.rows) > 0 && r.fixedRow(l, hits) {
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

// What a line may be by its first character.
const (
	leadsTuple uint8 = 1 + iota
	leadsStatement
	leadsObject
	leadsMarkup
)

var leads = [256]uint8{
	'(':  leadsTuple,
	'I':  leadsStatement,
	'i':  leadsStatement,
	'R':  leadsStatement,
	'r':  leadsStatement,
	'V':  leadsStatement,
	'v':  leadsStatement,
	'{':  leadsObject,
	'[':  leadsObject,
	'}':  leadsObject,
	']':  leadsObject,
	',':  leadsObject,
	'\t': leadsObject,
	'<':  leadsMarkup,
}

// described tells the record of hit k, which stands in line i, if that is written in a way that describes itself. The
// text of the line begins with first.
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
	return bytes.HasPrefix(text, []byte("<tr")) || bytes.HasPrefix(text, []byte("<TR")) ||
		bytes.HasPrefix(text, []byte("<row"))
}

// Marks in the length of a hit: it is part of another value; its digits can be read in two ways; its column has to say
// that it is one; its column said so; its column says that it is none.
const (
	aside  = 1 << 15
	unsure = 1 << 14
	weak   = 1 << 13
	taken  = 1 << 12
	gone   = 1 << 11
	// surveyed says that the column of a number has yet to be asked, and then that its column has said what it is.
	surveyed = 1 << 10
	marked   = aside | unsure | weak | taken | gone | surveyed
)

// tellHits hands out the identifiers of a record. Where digits were read in two ways and no column decides, one of the
// readings belongs to another person: neither is linked to the record.
func (r *Reader) tellHits(hits []hit) {
	switch {
	case len(hits) == 1 && hits[0].length&marked == 0: // as in most of a combo list
		r.out.Classes |= ofKind[hits[0].kind]
	case !r.addPlainHits(hits):
		r.decideHits(hits)
		return
	}
	r.handOut(hits)
}

// addPlainHits adds what hits say of their record and says yes, if there is nothing about any of them to be decided.
func (r *Reader) addPlainHits(hits []hit) bool {
	seen, end, classes := uint16(0), int32(0), Classes(0)
	for i := range hits {
		h := &hits[i]
		if h.from < end {
			return false
		}
		seen, end, classes = seen|h.length, h.to, classes|ofKind[h.kind]
	}
	if seen&marked != 0 {
		return false
	}
	r.out.Classes |= classes
	return true
}

// decideHits hands out identifiers of which some are not of the record, or can be read in two ways.
func (r *Reader) decideHits(hits []hit) {
	r.settleReadings(hits)
	for i := 1; i < len(hits); i++ {
		if a, b := &hits[i-1], &hits[i]; b.from < a.to && a.kind != b.kind {
			markDoubt(a, b)
		}
	}
	for i := range hits {
		if hits[i].length&(aside|unsure|weak|gone) == 0 {
			r.out.Classes |= ofKind[hits[i].kind]
		}
	}
	for i := range hits {
		if hits[i].length&(aside|unsure) == 0 {
			r.handOut(hits[i : i+1])
			continue
		}
		record := r.out
		r.out = Sighting{Told: true}
		r.handOut(hits[i : i+1])
		r.out = record
	}
}

// markDoubt marks two readings of the same digits, unless one of them is not of the record.
func markDoubt(a, b *hit) {
	if b.to <= a.from || (a.length|b.length)&(weak|gone) != 0 {
		return
	}
	first := a.length
	if b.length&aside == 0 {
		a.length |= unsure
	}
	if first&aside == 0 {
		b.length |= unsure
	}
}

// settleReadings takes away the other readings of digits that a column has said what they are. What a header says comes
// before what the rows around say.
func (r *Reader) settleReadings(hits []hit) {
	for i := range hits {
		if hits[i].length&(taken|gone) != taken {
			continue
		}
		for k := range hits {
			if k != i && hits[k].from < hits[i].to && hits[k].to > hits[i].from {
				hits[k].length |= gone
			}
		}
	}
}

// handOut calls back with identifiers, except those that belong to another piece of the text, or are none by their
// column.
func (r *Reader) handOut(hits []hit) {
	out := &r.out
	out.First = r.fresh
	classes := out.Classes
	for i := range hits {
		h := &hits[i]
		if h.length&marked != 0 {
			none := h.length&(weak|gone) != 0
			if h.length &^= aside | unsure | taken | gone; none {
				continue
			}
		}
		if h.from < r.since || int(h.from) >= r.limit {
			continue
		}
		end := h.normal + uint32(h.length)
		out.Kind, out.Normal, out.Classes = h.kind, r.arena[h.normal:end:end], classes|ofItself(h.kind)
		r.sighted(out)
		out.First, r.fresh = false, false
	}
	out.Classes = classes
}

// handOutUntold hands out identifiers of which no record can be told.
func (r *Reader) handOutUntold(hits []hit) {
	r.out = Sighting{}
	r.handOut(hits)
}

// handOutAlone hands out identifiers that have records of which nothing else is known.
func (r *Reader) handOutAlone(hits []hit) {
	r.out = Sighting{Told: true}
	r.handOut(hits)
}
