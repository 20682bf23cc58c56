package record

import (
	"bytes"

	"github.com/vigiahq/vigia/internal/identifier"
)

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
