package record

import (
	"math"
	"slices"

	"github.com/vigiahq/vigia/internal/identifier"
)

// hit is an identifier found in the text. Its normal form is kept in the arena.
type hit struct {
	from, to int32
	normal   uint32
	length   uint16
	kind     identifier.Kind
	surveyed bool // its column said what it is
}

// Marks in the length of a hit: it is part of another value; its digits can be read in two ways; its column has to say
// that it is one; its column said so; its column says that it is none.
const (
	aside  = 1 << 15
	unsure = 1 << 14
	weak   = 1 << 13
	taken  = 1 << 12
	gone   = 1 << 11
	// surveyed says that the column of a number has yet to be asked, and then that its column has said what it is.
	surveyed = 1 << 10
	marked   = aside | unsure | weak | taken | gone | surveyed
)

// newAdder makes Add. It is no method: called through a variable, as it is for each identifier, that would be two
// calls.
func (r *Reader) newAdder() func(kind identifier.Kind, normal []byte, from, to int) {
	return func(kind identifier.Kind, normal []byte, from, to int) {
		n := len(r.arena)
		h := hit{
			from:   int32(from),
			to:     int32(to),
			normal: uint32(n),
			length: uint16(len(normal)) | r.adding,
			kind:   kind,
		}
		if n+shortNormal <= cap(r.arena) && len(normal) <= shortNormal && shortNormal <= cap(normal) {
			room, text := r.arena[n:n+shortNormal], normal[:shortNormal]
			*(*[16]byte)(room) = [16]byte(text) // more in one copy would go over the stack
			*(*[16]byte)(room[16:]) = [16]byte(text[16:])
			*(*[16]byte)(room[32:]) = [16]byte(text[32:])
			r.arena = r.arena[:n+len(normal)]
		} else {
			r.arena = append(r.arena, normal...)
		}
		key := kind == identifier.PixKey || kind == identifier.CNPJ && to-from > bareCNPJ
		if kind == identifier.Email || key {
			r.keyed = r.keyed || key
			if n := len(r.signed); n > 0 && r.signed[n-1].from >= h.from {
				r.signed = r.putBack(append(r.signed, h))
			} else {
				r.signed = append(r.signed, h)
			}
			return
		}
		if n := len(r.numbers); n > 0 && r.numbers[n-1].from >= h.from {
			r.numbers = r.putBack(append(r.numbers, h))
		} else {
			r.numbers = append(r.numbers, h)
		}
	}
}

// bareCNPJ is how long a CNPJ is without its punctuation.
const bareCNPJ = 14

// shortNormal is what most normal forms are no longer than. They are copied with what follows them, which takes no
// call.
const shortNormal = 48

// AddWeak takes a reading of digits that counts only if the column it stands in says that it is one.
func (r *Reader) AddWeak(kind identifier.Kind, normal []byte, from, to int) {
	r.addHit(kind, normal, from, to, weak)
}

func (r *Reader) addHit(kind identifier.Kind, normal []byte, from, to int, marks uint16) {
	r.adding = marks
	r.Add(kind, normal, from, to)
	r.adding = 0
}

// putBack moves the last of hits to its place, unless it is there already. Most that are out of order were found in the
// same stretch of text; if too many are not, all are sorted later.
func (r *Reader) putBack(hits []hit) []hit {
	if r.disorder = r.disorder || r.moved > 64*len(hits); r.disorder {
		return hits
	}
	k := len(hits) - 1
	h := hits[k]
	for ; k > 0 && hits[k-1].from > h.from; k-- {
		hits[k] = hits[k-1]
		r.moved++
	}
	hits[k] = h
	if k > 0 && r.isSameHit(hits[k-1], h) {
		return slices.Delete(hits, k, k+1)
	}
	return hits
}

// isSameHit reports whether b is what a is: found as it stands and decoded.
func (r *Reader) isSameHit(a, b hit) bool {
	return a.from == b.from && a.to == b.to && a.kind == b.kind && a.length == b.length &&
		string(r.normalOf(a)) == string(r.normalOf(b))
}

// mergeHits puts what was told by signs and by digits in one order.
func (r *Reader) mergeHits() {
	count, last := len(r.signed)+len(r.numbers), hit{from: math.MaxInt32}
	r.signed, r.numbers = append(r.signed, last), append(r.numbers, last)
	r.hits = slices.Grow(r.hits[:0], count)[:count]
	a, n := r.signed, r.numbers
	i, k := 0, 0
	for at := range r.hits {
		// Without a branch, which would be a guess.
		next, second := &a[i], 0
		if other := &n[k]; other.from < next.from {
			next, second = other, 1
		}
		r.hits[at] = *next
		i, k = i+1-second, k+second
	}
	if r.disorder {
		slices.SortStableFunc(r.hits, func(a, b hit) int { return int(a.from - b.from) })
		r.hits = slices.CompactFunc(r.hits, r.isSameHit)
	}
	if r.keyed {
		r.sortSameStart()
	}
}

// sortSameStart puts keys and numbers that begin in the same place into the order in which they were found.
func (r *Reader) sortSameStart() {
	hits, before := r.hits, int32(-1)
	for i := range hits {
		if hits[i].from != before { // as most
			before = hits[i].from
			continue
		}
		for k := i; k > 0; k-- {
			a, b := &hits[k-1], &hits[k]
			if a.from != b.from || a.kind == identifier.Email || a.normal <= b.normal {
				break
			}
			*a, *b = *b, *a
		}
	}
}

// normalOf returns the normal form of a hit.
func (r *Reader) normalOf(h hit) []byte { return r.arena[h.normal:][:h.length&^marked] }
