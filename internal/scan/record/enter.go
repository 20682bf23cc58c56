package record

import "github.com/vigiahq/vigia/internal/identifier"

// enter says whether an identifier is a value of the record: of its own column, or of one that nothing is known of.
// Else it is a part of some text, such as a password, and says nothing of the person. It stands in cell n, which is f.
func (r *Reader) enter(h *hit, n int, f *field) {
	c := &r.cells[n]
	if h.length&weak != 0 {
		if r.means(h, n) && h.whole(f) {
			h.length = h.length&^weak | taken
			c.main = true
		}
		return
	}
	if c.column.ofThings() && h.kind != identifier.Email && h.whole(f) && allDigits(r.b[h.from:h.to]) && !(h.kind == identifier.CPF && h.surveyed) {
		h.length |= gone
		return
	}
	switch columnFits(c.column, h.kind) {
	case never:
		h.length |= aside
		return
	case perhaps:
		if c.column != unknown && !c.column.silent() || !h.whole(f) {
			h.length |= aside
			return
		}
	case sure:
		if c.column == colUsername && !h.whole(f) {
			h.length |= aside
			return
		}
	}
	c.main = true
}
