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

import "github.com/vigiahq/vigia/internal/identifier"

const (
	// Longest is the most bytes that a record may have; what is longer has no records that can be told apart.
	Longest = 8 << 10
	// Known is how far to either side of a piece of text identifiers are looked for: as far as its records go, and as
	// far as the columns of what stands in them are surveyed.
	Known = Longest + 2*columnCell
	// Reach is how far from an identifier the text must be seen, neighbouring records included.
	Reach = Known + columnReach + 512
)

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
	r.disorder, r.keyed, r.moved = false, false, 0
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
