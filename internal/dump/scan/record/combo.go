package record

import (
	"bytes"

	"github.com/vigiahq/vigia/internal/identifier"
)

// readComboLine reads identifier:password. That a list is one is told by the lines around.
func (r *Reader) readComboLine(l *line, i int, hits []hit) bool {
	f := r.lineForm(l)
	if f.sep == 0 {
		return false
	}
	if f.look == nothing || f.look == other {
		return r.bareCombo(i, f, hits)
	}
	if f.look != secret || f.extra > 0 || !r.isInList(l, i) {
		v := r.askAround(i, f)
		switch {
		case v.lines == 1 && !(f.look == secret && f.sep == ':' && r.isOnlyLine(i)) && f.look != hashed:
			return r.bareCombo(i, f, hits)
		case v.secrets == 0 || f.sep != ':' && (v.secrets*2 < v.lines || v.others*2 >= v.lines):
			return r.bareCombo(i, f, hits)
		case f.extra > 0 && v.same*2 > v.lines && v.lines > 1 && (f.extra > 1 || f.to == l.end && f.look != hashed):
			return false // a table
		}
	}
	r.out = Sighting{Told: true}
	if len(hits) > 1 {
		r.setAside(hits, int(f.from), int(f.to))
	}
	v := r.b[f.from:f.to]
	if f.look == hashed {
		r.out.Classes |= PasswordHash
	} else if f.look == secret && v[0] != '*' && v[0] != '[' {
		r.out.Classes, r.out.Password = Password, v
	} else {
		r.claimPassword(v)
	}
	if to := int(l.end); int(f.to)+5 < to && bytes.HasPrefix(r.b[f.to+1:to], []byte("http")) {
		r.setSite(r.b[f.to+1 : to])
	}
	r.tellHits(hits)
	return true
}

// claimPassword takes a value that is as it was typed for the record's password, or what is stored instead of one.
func (r *Reader) claimPassword(v []byte) {
	class := passwordClass(v)
	if r.out.Classes |= class; class == Password {
		r.out.Password = v
	}
}

// bareCombo returns a combo line of which nothing more is claimed than its identifiers.
func (r *Reader) bareCombo(i int, f *form, hits []hit) bool {
	if f.extra > 0 || !r.isBesideCombo(i, f.sep) {
		return false
	}
	r.out = Sighting{Told: true}
	r.tellHits(hits)
	return true
}

// setAside marks the identifiers inside a value.
func (r *Reader) setAside(hits []hit, from, to int) {
	for i := range hits {
		if int(hits[i].from) >= from && int(hits[i].from) < to {
			hits[i].length |= aside
		}
	}
}

// credential reads url:identifier:password, which stealers' logs are turned into.
func (r *Reader) credential(i int, hits []hit) bool {
	l := &r.lines[i]
	start, to := int(l.text), int(l.end)
	text := r.b[start:to]
	n := bytes.Index(text[:min(len(text), 16)], []byte("://"))
	if n < 3 {
		return false
	}
	for k := range hits {
		h := &hits[k]
		if int(h.from) < start+n+6 || int(h.to) >= to || h.kind == identifier.Card {
			continue
		}
		sep := r.b[h.to]
		if sep != r.b[h.from-1] || sep != ':' && sep != ';' && sep != '|' && sep != ',' && sep != '\t' && sep != ' ' {
			continue
		}
		r.out = Sighting{Told: true}
		r.setAside(hits, start, int(h.from))
		r.setAside(hits, int(h.to), to)
		if v := r.b[h.to+1 : to]; !isEmptyValue(v) {
			r.claimPassword(v)
		}
		r.setSite(r.b[start : h.from-1])
		r.out.Day = r.dayOfNames()
		r.tellHits(hits)
		return true
	}
	return false
}
