package record

import "sort"

// identities are the kinds by which two objects are told to be of different people.
const identities = Email | CPF

// handOutPeople hands out the hits of a parsed object, person by person.
func (r *Reader) handOutPeople(hits []hit) {
	if len(r.objects) == 1 {
		r.handOutPerson(hits, 0)
		return
	}
	r.identify(hits)
	for g := range r.objects {
		if r.objects[g].group == g {
			r.group = r.group[:0]
			for i := range hits {
				if m := r.memberOf(&hits[i]); m >= 0 && r.objects[r.members[m].object].group == g || m < 0 && g == 0 {
					r.group = append(r.group, hits[i])
				}
			}
			r.handOutPerson(r.group, g)
		}
	}
}

// identify says which objects are records of their own: those with an e-mail address or CPF that stand in a list,
// beside others of their kind, or in an object that has its own.
func (r *Reader) identify(hits []hit) {
	for i := range hits {
		if m := r.memberOf(&hits[i]); m >= 0 && hits[i].length&weak == 0 && hits[i].isWholeField(&r.members[m].field) {
			o := &r.objects[r.members[m].object]
			o.identity |= ofKind[hits[i].kind] & identities
			o.own = o.identity
		}
	}
	for i := len(r.objects) - 1; i > 0; i-- {
		if o := &r.objects[i]; o.identity != 0 || o.people > 0 {
			r.objects[o.parent].people++
		}
	}
	for i := 1; i < len(r.objects); i++ {
		o := &r.objects[i]
		above := &r.objects[o.parent]
		if o.identity != 0 && (o.inList || above.people > 1 || o.identity&r.objects[above.group].identity != 0) ||
			above.people > 1 && o.people > 0 ||
			o.inList && o.identity == 0 && r.objects[above.group].own&identities == 0 {
			o.group = i
		} else {
			o.group = above.group
			r.objects[o.group].identity |= o.identity
		}
	}
}

// memberOf returns the member that an identifier stands in, or -1.
func (r *Reader) memberOf(h *hit) int {
	low := sort.Search(len(r.members), func(i int) bool { return r.members[i].to >= int(h.to) })
	if low < len(r.members) && r.members[low].from <= int(h.from) {
		return low
	}
	return -1
}

// handOutPerson hands out the hits of one record.
func (r *Reader) handOutPerson(hits []hit, group int) {
	r.beginCells(len(r.members))
	cells, members := r.cells, r.members
	for i := range cells {
		cells[i].column = members[i].column
	}
	m, last := 0, int32(0)
	for i := range hits {
		h := &hits[i]
		if h.to < last {
			m = 0
		}
		for last = h.to; m < len(members) && members[m].to < int(h.to); m++ {
		}
		if m < len(members) && members[m].from <= int(h.from) {
			r.enterHit(h, m, &members[m].field)
		} else {
			h.length |= aside
		}
	}
	for i := range cells {
		m := &members[i]
		o := &r.objects[m.object]
		if cells[i].main || o.group != group ||
			m.column == colName && m.object != group && o.column == unknown && m.object != 0 {
			continue // the name of a company, a product
		}
		if m.column == unknown && !maybeHash(r.b[m.from]) {
			continue
		}
		r.claimField(m.column, &m.field)
	}
	r.tellHits(hits)
}
