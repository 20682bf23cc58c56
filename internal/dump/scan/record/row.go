package record

import (
	"bytes"
	"math/bits"
	"sort"
	"unicode/utf8"

	"github.com/vigiahq/vigia/internal/identifier"
)

// field is a value of a row, without the quotes around it.
type field struct {
	from, to int
	escapes  escapes
}

// escapes is how characters are written inside a value that would else end it.
type escapes uint8

const (
	literal   escapes = iota
	doubled           // a quote twice
	backslash         // and a quote twice
	copyText          // a backslash alone
	jsonText
)

// splitRow cuts b[from:to], of which marks have been made, into fields. A field in quotes ends with a quote that a
// separator follows, so that a stray quote inside does not swallow the row; plain rows have none.
func (r *Reader) splitRow(from, to int, sep byte, plain bool) {
	fields, b := r.fields[:0], r.b[:to]
	for i, word := from>>6, r.marks.signsFrom(from); ; {
		if from < len(b) && b[from] == '"' && !plain {
			if end := findClosingQuote(b, from+1, to, sep); end >= 0 {
				fields = append(fields, field{from + 1, end, doubled})
				if end+1 >= to {
					break
				}
				from = end + 2
				i, word = from>>6, r.marks.signsFrom(from)
				continue
			}
		}
		end := to
		for {
			for word == 0 && (i+1)<<6 < to {
				i++
				word = r.marks.signs[i]
			}
			at := i<<6 + bits.TrailingZeros64(word) // no sign: the next word
			if at >= len(b) || word == 0 {
				break
			}
			word &= word - 1
			if b[at] == sep {
				end = at
				break
			}
		}
		fields = append(fields, field{from, end, literal})
		if end == to {
			break
		}
		from = end + 1
	}
	r.fields = fields
}

// findClosingQuote finds the quote that ends a field, or -1.
func findClosingQuote(b []byte, from, to int, sep byte) int {
	for at := from; ; at++ {
		n := bytes.IndexByte(b[at:to], '"')
		if n < 0 {
			return -1
		}
		at += n
		switch {
		case at+1 >= to || b[at+1] == sep:
			return at
		case b[at+1] == '"':
			at++
		}
	}
}

// cell is a field with what stands in it.
type cell struct {
	column column
	main   bool // an identifier of this record is its value
}

// readTableRow reads a line by the header in force. It says no where the line is none of its rows.
func (r *Reader) readTableRow(l *line, hits []hit, in *layout) bool {
	from, to := int(l.from), int(l.end)
	switch in.Form {
	case copied:
		r.splitRow(from, to, in.Sep, true)
		for i := range r.fields {
			r.fields[i].escapes = copyText
		}
	case separated:
		r.splitRow(from, to, in.Sep, false)
		if in.Sep == '|' {
			r.trimFields()
		}
	case aligned:
		if !r.cutAtColumns(from, to, in) {
			return false
		}
	case noTable, tuples:
		return false
	}
	return r.fitting(hits, in.Columns, in.Form == separated)
}

// fitting judges the fields by their columns, if they fit. Where there are more fields than columns, a password held
// the separator; of a line that is cut short only the columns up to its last identifier are sure.
func (r *Reader) fitting(hits []hit, columns []column, loose bool) bool {
	surplus := len(r.fields) - len(columns)
	if surplus == 0 {
		return r.fitsColumns(hits, columns) && r.judgeFields(hits, columns)
	}
	if !loose || len(columns) < 2 {
		return false
	}
	if surplus < 0 {
		return r.cutShort(hits, columns[:len(r.fields)])
	}
	at := -1
	for j, c := range columns {
		if c != colPassword || surplus > 8 {
			continue
		}
		if at >= 0 {
			return r.onlyHits(hits)
		}
		at = j
	}
	if at < 0 {
		return r.onlyHits(hits)
	}
	whole := append([]field(nil), r.fields...)
	r.fields[at].to = r.fields[at+surplus].to
	r.fields = append(r.fields[:at+1], r.fields[at+surplus+1:]...)
	if r.fitsColumns(hits, columns) && r.anchored(hits, columns, at) {
		return r.judgeFields(hits, columns)
	}
	r.fields = whole
	return r.onlyHits(hits)
}

// anchored reports whether an identifier stands in its own column to the right of the given one, or that is the last
// one: what was joined there has its right end then.
func (r *Reader) anchored(hits []hit, columns []column, at int) bool {
	if at == len(columns)-1 {
		return true
	}
	for i, f := range r.places {
		if f > at && columnFits(columns[f], hits[i].kind) == sure {
			return true
		}
	}
	return false
}

// cutShort judges a row with fewer fields than columns.
func (r *Reader) cutShort(hits []hit, columns []column) bool {
	if !r.fitsColumns(hits, columns) {
		return false
	}
	last := -1
	for i, f := range r.places {
		if f > last && columnFits(columns[f], hits[i].kind) == sure {
			last = f
		}
	}
	if last < 0 {
		return false
	}
	known := make([]column, len(columns))
	copy(known, columns[:last+1])
	return r.judgeFields(hits, known)
}

// fitsColumns reports whether the identifiers stand in columns that may hold them, at least one of them in its own.
func (r *Reader) fitsColumns(hits []hit, columns []column) bool {
	own, strong := false, false
	r.locateFields(hits)
	for i, f := range r.places {
		h := &hits[i]
		if h.length&weak != 0 {
			own = own || f >= 0 && columnFits(columns[f], h.kind) == sure && columns[f].identity()
			continue
		}
		if f < 0 {
			return false
		}
		strong = true
		switch columnFits(columns[f], h.kind) {
		case sure:
			own = true
		case never:
			if h.isWholeField(&r.fields[f]) && !r.otherReading(hits, i, columns[f]) {
				return false
			}
		case perhaps:
		}
	}
	if own || !strong {
		return true
	}
	for _, c := range columns {
		if c.identity() {
			return false // it should have been in there
		}
	}
	return true
}

// otherReading reports whether the same digits were read as something that the column may hold.
func (r *Reader) otherReading(hits []hit, i int, c column) bool {
	for k := range hits {
		if k != i && hits[k].from < hits[i].to && hits[k].to > hits[i].from && columnFits(c, hits[k].kind) == sure {
			return true
		}
	}
	return false
}

// locateFields finds the field that each identifier stands in, or -1. Both are in order.
func (r *Reader) locateFields(hits []hit) {
	places, fields, f := r.places[:0], r.fields, 0
	for i := range hits {
		h, place := &hits[i], -1
		for f < len(fields) && fields[f].to < int(h.to) {
			f++
		}
		if f < len(fields) && fields[f].from <= int(h.from) {
			place = f
		}
		places = append(places, place)
	}
	r.places = places
}

// anyWhole reports whether an identifier is the whole of its field.
func (r *Reader) anyWhole(hits []hit) bool {
	for i, f := range r.places {
		if f >= 0 && hits[i].isWholeField(&r.fields[f]) {
			return true
		}
	}
	return false
}

// isWholeField reports whether an identifier is the value of a field, and not a part of a text in it.
func (h *hit) isWholeField(f *field) bool {
	beside := f.to - f.from - int(h.to-h.from)
	return beside <= 2 || beside <= 6 && h.kind != identifier.Email
}

// judgeFields claims what the fields hold by their columns, and hands out the identifiers, which have been located. No
// columns means that there is no header: then shapes alone count.
func (r *Reader) judgeFields(hits []hit, columns []column) bool {
	r.beginCells(len(r.fields))
	if columns != nil {
		for i := range r.cells {
			r.cells[i].column = columns[i]
		}
	}
	for i, f := range r.places {
		if f >= 0 {
			r.enterHit(&hits[i], f, &r.fields[f])
		}
	}
	cells := r.cells[:len(r.fields)]
	if columns == nil {
		for i := range r.fields {
			if f := &r.fields[i]; f.to-f.from >= shortestShape && !cells[i].main {
				r.out.Classes |= classesOfShape(trimBlanks(r.b[f.from:f.to]))
			}
		}
	} else {
		for i := range r.fields {
			f := &r.fields[i]
			if c := &cells[i]; !c.main && !c.column.isSilent() &&
				(c.column != unknown || f.to > f.from && maybeHash(r.b[f.from])) {
				r.claimField(c.column, f)
			}
		}
	}
	r.tellHits(hits)
	return true
}

func (r *Reader) beginCells(n int) {
	if cap(r.cells) < n {
		r.cells = make([]cell, n, 2*n)
	}
	r.cells = r.cells[:n]
	clear(r.cells)
	r.out = Sighting{Told: true}
}

// claimField adds what a field exposes.
func (r *Reader) claimField(c column, f *field) {
	v := trimBlanks(r.b[f.from:f.to])
	switch c {
	case colPassword:
		r.password(f, v)
	case colURL:
		r.setSite(v)
	default:
		r.out.Classes |= claimValue(c, v)
	}
}

// trimBlanks leaves out blanks around a value. bytes.Trim is not inlined, which costs a tenth of reading a table.
func trimBlanks(v []byte) []byte {
	for len(v) > 0 && v[0] == ' ' {
		v = v[1:]
	}
	for len(v) > 0 && v[len(v)-1] == ' ' {
		v = v[:len(v)-1]
	}
	return v
}

// password takes the field as the record's password. Two passwords are none: it would not be known which.
func (r *Reader) password(f *field, v []byte) {
	if isEmptyValue(v) {
		return
	}
	class := passwordClass(v)
	if class == Password {
		if r.out.Classes&Password != 0 {
			r.out.Password = nil
		} else {
			r.out.Password = r.unescaped(*f)
		}
	}
	r.out.Classes |= class
}

// onlyHits hands out a row whose fields cannot be told for sure: the identifiers that are fields of their own.
func (r *Reader) onlyHits(hits []hit) bool {
	r.out = Sighting{Told: true}
	r.locateFields(hits)
	for i, f := range r.places {
		if f < 0 || !hits[i].isWholeField(&r.fields[f]) {
			hits[i].length |= aside
		}
	}
	r.tellHits(hits)
	return true
}

// trimFields takes the spaces off that some tables are padded with.
func (r *Reader) trimFields() {
	for i := range r.fields {
		f := &r.fields[i]
		for f.from < f.to && r.b[f.from] == ' ' {
			f.from++
		}
		for f.from < f.to && r.b[f.to-1] == ' ' {
			f.to--
		}
	}
}

// cutAtColumns makes fields by where columns begin, in characters. A value that goes over the beginning of the next
// column makes the line none of the table.
func (r *Reader) cutAtColumns(from, to int, in *layout) bool {
	r.fields = r.fields[:0]
	at, place := from, 0
	for _, start := range in.Starts {
		for place < start && at < to {
			_, n := utf8.DecodeRune(r.b[at:to])
			at, place = at+n, place+1
		}
		if place < start { // cut short
			at = to
		}
		if at > from && at < to && r.b[at-1] != ' ' {
			return false
		}
		if n := len(r.fields); n > 0 {
			r.fields[n-1].to = at
		}
		r.fields = append(r.fields, field{at, to, literal})
	}
	r.trimFields()
	return true
}

// fit is how sure it is that an identifier is the value of a column.
type fit uint8

const (
	never fit = iota
	perhaps
	sure
)

// surely are the kinds that are the value of a column for sure; people and companies share those of CPFs and CNPJs.
// Columns in neverElse hold no other kind, and any other may, inside of a text.
var (
	surely = [colID + 1]Kinds{
		colEmail:    1 << identifier.Email,
		colCPF:      CPFKind | CNPJKind,
		colCNPJ:     CPFKind | CNPJKind,
		colPhone:    PhoneKind,
		colCard:     CardKind,
		colUsername: 1<<identifier.Email | CPFKind | CNPJKind | PhoneKind,
		colDocument: CPFKind | CNPJKind,
		colArea:     PhoneKind,
		colPix:      1 << identifier.PixKey,
	}
	neverElse = [colID + 1]bool{
		colEmail:     true,
		colCPF:       true,
		colCNPJ:      true,
		colPhone:     true,
		colCard:      true,
		colBirthDate: true,
		colIP:        true,
		colHeader:    true,
	}
)

// columnFits reports whether an identifier may be the value of a column.
func columnFits(c column, kind identifier.Kind) fit {
	switch {
	case surely[c]&(1<<kind) != 0:
		return sure
	case neverElse[c]:
		return never
	}
	return perhaps
}

// cellMeans reports whether cell n is named after what its digits can be read as. A phone without its area code needs
// that in the cell before it.
func (r *Reader) cellMeans(h *hit, n int) bool {
	c := r.cells[n].column
	if h.kind == identifier.Phone && int(h.to-h.from) < 10 {
		return n > 0 && r.cells[n-1].column == colArea && (c == colPhone || c == unknown)
	}
	switch {
	case h.kind == identifier.PixKey:
		return c == colPix
	case h.kind == identifier.CNPJ: // which a CPF with zeros before it may look like
		return c == colCNPJ || c == colCPF && !bytes.HasPrefix(r.b[h.from:h.to], []byte("000"))
	}
	return c.identity() && classOf[c] == ofKind[h.kind]
}

// enterHit reports whether an identifier is a value of the record: of its own column, or of one that nothing is known
// of. Else it is a part of some text, such as a password, and says nothing of the person. It stands in cell n, which is
// f.
func (r *Reader) enterHit(h *hit, n int, f *field) {
	c := &r.cells[n]
	if h.length&weak != 0 {
		if r.cellMeans(h, n) && h.isWholeField(f) {
			h.length = h.length&^weak | taken
			c.main = true
		}
		return
	}
	if c.column.ofThings() && h.kind != identifier.Email && h.isWholeField(f) && allDigits(r.b[h.from:h.to]) &&
		!(h.kind == identifier.CPF && h.surveyed) {
		h.length |= gone
		return
	}
	switch columnFits(c.column, h.kind) {
	case never:
		h.length |= aside
		return
	case perhaps:
		if c.column != unknown && !c.column.isSilent() || !h.isWholeField(f) {
			h.length |= aside
			return
		}
	case sure:
		if c.column == colUsername && !h.isWholeField(f) {
			h.length |= aside
			return
		}
	}
	c.main = true
}

// row is a line whose columns are told by where they stand in it, with what they expose besides identifiers.
type row struct {
	from, to int32
	classes  Classes
}

// AddFixed takes an identifier that stands in a column of fixed width: whatever else its digits were read as is none.
func (r *Reader) AddFixed(kind identifier.Kind, normal []byte, from, to int) {
	r.addHit(kind, normal, from, to, taken)
}

// AddRow says that b[from:to] is a line with columns of fixed width, and what these expose besides identifiers. Rows
// come in order.
func (r *Reader) AddRow(from, to int, classes Classes) {
	r.rows = append(r.rows, row{int32(from), int32(to), classes})
}

// fixedRow reads a line with columns of fixed width.
func (r *Reader) fixedRow(l *line, hits []hit) bool {
	at := sort.Search(len(r.rows), func(i int) bool { return r.rows[i].from >= l.from })
	if at == len(r.rows) || r.rows[at].from != l.from {
		return false
	}
	r.out = Sighting{Told: true}
	if !bytes.ContainsAny(r.b[l.from:l.to], separators) { // else parts of it may be of others
		r.out.Classes = r.rows[at].classes
	}
	r.tellHits(hits)
	return true
}

// LongAgo reports whether a date of that year is more likely one of a birth than another.
func LongAgo(year int) bool { return year >= oldestAlive && year < recordsBegin }
