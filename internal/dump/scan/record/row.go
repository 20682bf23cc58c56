package record

import (
	"bytes"
	"math/bits"
	"unicode/utf8"
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
