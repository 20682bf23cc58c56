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
	"github.com/vigiahq/vigia/internal/identifier"
)

const (
	// Longest is the most bytes that a record may have; what is longer has no records that can be told apart.
	Longest = 8 << 10
	// Known is how far to either side of a piece of text identifiers are looked for: as far as its records go, and as far as
	// the columns of what stands in them are surveyed.
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
	identifier.Email: Email, identifier.CPF: CPF, identifier.Phone: Phone, identifier.Card: Card, identifier.PixKey: Financial,
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
	// Site is the host that the credential is for, in lower case, and Day the day since 1970 on which it was taken, both
	// of stealer logs; nil and zero when unknown.
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
	// Add takes an identifier in normal form that was found at [from, to) of the text. Those that are told by signs come
	// in order, and so do those that are told by digits, most of them.
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
	tallyNear [64]int32
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
