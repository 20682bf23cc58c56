package record

// Marks in the length of a hit: it is part of another value; its digits can be read in two ways.
const (
	aside  = 1 << 15
	unsure = 1 << 14
)

// tell hands out the identifiers of a record. Where digits were read in two ways, with no column to decide, the record
// is that of somebody else for one of them: neither is told of it.
func (r *Reader) tell(hits []hit) {
	if len(hits) > 1 {
		for i := range hits {
			if r.twice(hits, i) {
				hits[i].length |= unsure
			}
		}
	}
	for i := range hits {
		if hits[i].length&(aside|unsure) == 0 {
			r.out.Classes |= ofKind[hits[i].kind]
		}
	}
	for i := range hits {
		h := &hits[i]
		if h.length&(aside|unsure) == 0 {
			r.hand(h)
			continue
		}
		record := r.out
		r.out = Sighting{Told: true}
		r.hand(h)
		r.out = record
	}
}

// twice says whether the digits of hit i were also read as something else that is in the record.
func (r *Reader) twice(hits []hit, i int) bool {
	for _, k := range [2]int{i - 1, i + 1} {
		if k >= 0 && k < len(hits) && hits[k].length&aside == 0 && hits[k].kind != hits[i].kind && hits[k].from < hits[i].to && hits[k].to > hits[i].from {
			return true
		}
	}
	return false
}

// hand calls back with an identifier, unless it belongs to another piece of the text.
func (r *Reader) hand(h *hit) {
	h.length &^= aside | unsure
	if int(h.from) < r.from || int(h.from) >= r.limit || h.from < r.since {
		return
	}
	r.out.Kind, r.out.Normal = h.kind, r.arena[h.normal:h.normal+uint32(h.length)]
	classes := r.out.Classes
	r.out.Classes |= ofKind[h.kind]
	r.found(&r.out)
	r.out.Classes = classes
}

// untold hands out identifiers of which no record can be told.
func (r *Reader) untold(hits []hit) {
	r.out = Sighting{}
	for i := range hits {
		r.hand(&hits[i])
	}
}

// alone hands out identifiers that have records of which nothing else is known.
func (r *Reader) alone(hits []hit) {
	r.out = Sighting{Told: true}
	for i := range hits {
		r.hand(&hits[i])
	}
}
