package record

import (
	"bytes"
	"sort"

	"github.com/vigiahq/vigia/internal/identifier"
)

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
	if c.column.ofThings() && h.kind != identifier.Email && h.whole(f) && allDigits(r.b[h.from:h.to]) && !(h.kind == identifier.CPF && r.sameBeside(h)) {
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

// sameBeside says whether a CPF under a name that promises none is one all the same: those of the records beside it are,
// and no other column is named after it.
func (r *Reader) sameBeside(h *hit) bool {
	for i := range r.cells {
		if r.cells[i].column == colCPF {
			return false
		}
	}
	at := sort.Search(len(r.hits), func(i int) bool { return r.hits[i].from >= h.from })
	cpfs, low, high := 0, max(0, int(h.from)-sameReach), min(len(r.b), int(h.to)+sameReach)
	for _, step := range [2]int{-1, 1} {
		for k := at + step; k >= 0 && k < len(r.hits) && int(r.hits[k].from) >= low && int(r.hits[k].to) <= high; k += step {
			if o := &r.hits[k]; o.kind == identifier.CPF && o.length&weak == 0 && o.from != h.from {
				cpfs++
			}
		}
	}
	around := r.b[low:high]
	return cpfs > 0 && cpfs*2 >= max(bytes.Count(around, []byte("\n")), bytes.Count(around, []byte("),(")))-1
}

// sameReach is how far the records beside one are asked, in bytes.
const sameReach = 512
