package record

import (
	"bytes"

	"github.com/vigiahq/vigia/internal/identifier"
)

// form is what a line looks like to its neighbours: identifier, separator and the rest of the line.
type form struct {
	known bool
	sep   byte // 0: no combo line
	look  look
	extra uint8 // separators in the rest
	from  int32 // the rest, without identifiers and addresses behind it
	to    int32
}

// separators part the fields of lists without a header.
const separators = "\t;|,"

// look is what the rest of a combo line looks like.
type look uint8

const (
	nothing look = iota
	other        // a name, a date, an address: no password
	neutral      // could be anything
	secret       // what people choose for passwords
	hashed
)

// lineForm looks at a line once.
func (r *Reader) lineForm(l *line) *form {
	if !l.form.known {
		r.readForm(l)
	}
	return &l.form
}

// readForm fills in the form of a line.
func (r *Reader) readForm(l *line) {
	f := &l.form
	if f.known = true; l.long {
		return
	}
	n := int(l.first)
	if r.hits[n].length&weak != 0 {
		if n = r.firstStrong(l); n < 0 {
			return
		}
	}
	to, first := int(l.end), &r.hits[n]
	if int(first.to) < to && r.b[first.to] == '-' {
		r.dashedForm(l, first)
		return
	}
	if first.from > l.text || first.kind == identifier.Card || int(first.to) >= to {
		return
	}
	sep, rest, end := r.b[first.to], int(first.to)+1, to
	if !partsCombo[sep] {
		return
	}
	f.sep = sep
	if !r.marks.hasNoSign(rest, to) {
		f.extra = uint8(r.marks.countSign(sep, rest, min(to, rest+255)))
	}
	if f.extra > 0 {
		for k := n + 1; k < int(l.last); k++ {
			if h := &r.hits[k]; h.length&weak == 0 && int(h.from) > rest && r.b[h.from-1] == f.sep &&
				(int(h.to) == to || r.b[h.to] == f.sep) {
				end = int(h.from) - 1
				break
			}
		}
		if n := bytes.Index(r.b[rest:end], []byte("http")); n > 0 && r.b[rest+n-1] == f.sep {
			end = rest + n - 1
		}
	}
	f.from, f.to = int32(rest), int32(end)
	f.look = lookOfRest(r.b[rest:end], f.sep)
	if rest < to && n+1 < int(l.last) {
		if h := &r.hits[n+1]; h.length&weak == 0 && int(h.from) <= rest+1 && int(h.to) >= end-1 {
			f.look = other // another identifier, and nothing else
		}
	}
}

// partsCombo are the separators of combo lists.
var partsCombo = [256]bool{':': true, ';': true, '|': true, ',': true, '\t': true}

// dashes part the fields of lists of accounts: user----address----password.
var dashes = []byte("----")

// dashedForm looks at a line whose first identifier hyphens follow.
func (r *Reader) dashedForm(l *line, first *hit) {
	f, to := &l.form, int(l.end)
	text := r.b[first.to:to]
	if !bytes.HasPrefix(text, dashes) || first.from > l.text && !bytes.HasSuffix(r.b[l.from:first.from], dashes) {
		return
	}
	from := int(first.to) + len(dashes)
	if n := bytes.Index(r.b[from:to], dashes); n >= 0 {
		to = from + n
	}
	f.sep, f.from, f.to = '-', int32(from), int32(to)
	f.look = lookOfRest(r.b[from:to], 0)
	for k := int(l.first); k < len(r.hits) && int(r.hits[k].from) < to; k++ {
		if h := &r.hits[k]; h.length&weak == 0 && int(h.from) >= from && int(h.to) >= to-1 && int(h.from) <= from+1 {
			f.look = other // another identifier, and nothing else
		}
	}
}

// firstStrong returns the first hit of a line that needs no column, or -1.
func (r *Reader) firstStrong(l *line) int {
	for k := int(l.first); k < int(l.last); k++ {
		if r.hits[k].length&weak == 0 {
			return k
		}
	}
	return -1
}

// strongHits moves those that need no column to the front of hits and returns them.
func strongHits(hits []hit) []hit {
	n := 0
	for i := range hits {
		if hits[i].length&weak == 0 {
			if i > n {
				h := hits[i]
				copy(hits[n+1:i+1], hits[n:i])
				hits[n] = h
			}
			n++
		}
	}
	return hits[:n]
}

// lookOfRest judges the rest of a combo line.
func lookOfRest(v []byte, sep byte) look {
	if len(v) < 7 && isEmptyValue(v) {
		return nothing
	}
	if len(v) >= 20 {
		first := v
		if n := bytes.IndexByte(v, sep); n > 0 {
			first = v[:n] // hash:salt
		}
		if strongHash(first) || hexDigest(first) {
			return hashed
		}
	}
	k := characterKinds(v[:min(len(v), 64)])
	switch {
	case len(v) > 64,
		v[0] == ' ',
		v[0] == 'h' && bytes.HasPrefix(v, []byte("http")),
		kindOf[v[0]] == hasDigit && k&hasMark != 0 && (ipAddress(v) || ParseYear(v) > 0):
		return other
	case k&hasSpace != 0:
		if k&(hasDigit|hasMark) != 0 {
			return neutral
		}
		return other // words
	case k&hasLetter != 0 && k&(hasDigit|hasMark) != 0:
		return secret
	}
	return neutral
}
