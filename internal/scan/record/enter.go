package record

import "github.com/vigiahq/vigia/internal/identifier"

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
	if c.column.ofThings() && h.kind != identifier.Email && h.isWholeField(f) && allDigits(r.b[h.from:h.to]) && !(h.kind == identifier.CPF && h.surveyed) {
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
