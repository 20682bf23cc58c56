package record

// tellHits hands out the identifiers of a record. Where digits were read in two ways and no column decides, one of the
// readings belongs to another person: neither is linked to the record.
func (r *Reader) tellHits(hits []hit) {
	switch {
	case len(hits) == 1 && hits[0].length&marked == 0: // as in most of a combo list
		r.out.Classes |= ofKind[hits[0].kind]
	case !r.addPlainHits(hits):
		r.decideHits(hits)
		return
	}
	r.handOut(hits)
}

// addPlainHits adds what hits say of their record and says yes, if there is nothing about any of them to be decided.
func (r *Reader) addPlainHits(hits []hit) bool {
	seen, end, classes := uint16(0), int32(0), Classes(0)
	for i := range hits {
		h := &hits[i]
		if h.from < end {
			return false
		}
		seen, end, classes = seen|h.length, h.to, classes|ofKind[h.kind]
	}
	if seen&marked != 0 {
		return false
	}
	r.out.Classes |= classes
	return true
}

// decideHits hands out identifiers of which some are not of the record, or can be read in two ways.
func (r *Reader) decideHits(hits []hit) {
	r.settleReadings(hits)
	for i := 1; i < len(hits); i++ {
		if a, b := &hits[i-1], &hits[i]; b.from < a.to && a.kind != b.kind {
			markDoubt(a, b)
		}
	}
	for i := range hits {
		if hits[i].length&(aside|unsure|weak|gone) == 0 {
			r.out.Classes |= ofKind[hits[i].kind]
		}
	}
	for i := range hits {
		if hits[i].length&(aside|unsure) == 0 {
			r.handOut(hits[i : i+1])
			continue
		}
		record := r.out
		r.out = Sighting{Told: true}
		r.handOut(hits[i : i+1])
		r.out = record
	}
}

// markDoubt marks two readings of the same digits, unless one of them is not of the record.
func markDoubt(a, b *hit) {
	if b.to <= a.from || (a.length|b.length)&(weak|gone) != 0 {
		return
	}
	first := a.length
	if b.length&aside == 0 {
		a.length |= unsure
	}
	if first&aside == 0 {
		b.length |= unsure
	}
}

// settleReadings takes away the other readings of digits that a column has said what they are. What a header says comes
// before what the rows around say.
func (r *Reader) settleReadings(hits []hit) {
	for i := range hits {
		if hits[i].length&(taken|gone) != taken {
			continue
		}
		for k := range hits {
			if k != i && hits[k].from < hits[i].to && hits[k].to > hits[i].from {
				hits[k].length |= gone
			}
		}
	}
}

// handOut calls back with identifiers, except those that belong to another piece of the text, or are none by their
// column.
func (r *Reader) handOut(hits []hit) {
	out := &r.out
	out.First = r.fresh
	classes := out.Classes
	for i := range hits {
		h := &hits[i]
		if h.length&marked != 0 {
			none := h.length&(weak|gone) != 0
			if h.length &^= aside | unsure | taken | gone; none {
				continue
			}
		}
		if h.from < r.since || int(h.from) >= r.limit {
			continue
		}
		end := h.normal + uint32(h.length)
		out.Kind, out.Normal, out.Classes = h.kind, r.arena[h.normal:end:end], classes|ofItself(h.kind)
		r.sighted(out)
		out.First, r.fresh = false, false
	}
	out.Classes = classes
}

// handOutUntold hands out identifiers of which no record can be told.
func (r *Reader) handOutUntold(hits []hit) {
	r.out = Sighting{}
	r.handOut(hits)
}

// handOutAlone hands out identifiers that have records of which nothing else is known.
func (r *Reader) handOutAlone(hits []hit) {
	r.out = Sighting{Told: true}
	r.handOut(hits)
}
