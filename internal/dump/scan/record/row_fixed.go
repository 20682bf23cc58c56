package record

import (
	"bytes"
	"sort"

	"github.com/vigiahq/vigia/internal/identifier"
)

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
