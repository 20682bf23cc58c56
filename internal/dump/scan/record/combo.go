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

const (
	// neighbourhood is how many lines to either side are asked, and how far they may be.
	neighbourhood      = 3
	neighbourhoodBytes = 2 << 10
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

// votes are what the combo lines around one are, that one included.
type votes struct{ lines, secrets, others, same int }

// countForm counts the form of a line that is near.
func (v *votes) countForm(n, own *form) {
	v.lines++
	switch n.look {
	case secret, hashed:
		v.secrets++
	case other:
		v.others++
	case nothing, neutral:
	}
	if n.extra == own.extra {
		v.same++
	}
}

// askAround counts what the lines around line i look like.
func (r *Reader) askAround(i int, f *form) (v votes) {
	v.countForm(f, f)
	for _, step := range [2]int{-1, 1} {
		for n, k := 0, i+step; n < neighbourhood && r.isNear(i, k); n, k = n+1, k+step {
			if near := r.lineForm(&r.lines[k]); near.sep == f.sep {
				v.countForm(near, f)
			}
		}
	}
	return v
}

// isInList reports whether the line before or after l, which is line i, leaves no doubt that both are of a combo list,
// whatever separator each has.
func (r *Reader) isInList(l *line, i int) bool {
	if i > 0 {
		if before := &r.lines[i-1]; int(l.from-before.from) <= neighbourhoodBytes && r.isListLine(before) {
			return true
		}
	}
	if i+1 < len(r.lines) {
		after := &r.lines[i+1]
		return int(after.to-l.to) <= neighbourhoodBytes && r.isListLine(after)
	}
	return false
}

// isListLine reports whether a line can be of nothing but a combo list.
func (r *Reader) isListLine(l *line) bool {
	f := r.lineForm(l)
	return f.look == secret && f.extra == 0 && f.sep != ',' && f.sep != '\t' // a long one has no look
}

// isBesideCombo reports whether the line before or after line i is a combo line with the same separator.
func (r *Reader) isBesideCombo(i int, sep byte) bool {
	return r.isNear(i, i-1) && r.lineForm(&r.lines[i-1]).sep == sep ||
		r.isNear(i, i+1) && r.lineForm(&r.lines[i+1]).sep == sep
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

// isNear reports whether there is a line k that is near enough to line i to be compared with it.
func (r *Reader) isNear(i, k int) bool {
	if k < 0 || k >= len(r.lines) || r.lines[k].long {
		return false
	}
	return max(r.lines[k].to-r.lines[i].to, r.lines[i].from-r.lines[k].from) <= neighbourhoodBytes
}

// isOnlyLine reports whether a line is the only one of its text.
func (r *Reader) isOnlyLine(i int) bool {
	l := &r.lines[i]
	return r.begins && r.ends && len(bytes.TrimSpace(r.b[:l.from])) == 0 && len(bytes.TrimSpace(r.b[l.to:])) == 0
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

// headless reads a row of a table without a header: the line beside it has as many fields. Only shapes are claimed.
func (r *Reader) headless(i int, hits []hit) bool {
	l := &r.lines[i]
	sep := r.separator(l, &hits[0])
	if sep == 0 {
		return false
	}
	n := r.fieldsOf(i, sep)
	if !(r.isNear(i, i-1) && r.fieldsOf(i-1, sep) == n || r.isNear(i, i+1) && r.fieldsOf(i+1, sep) == n) {
		return false
	}
	r.splitRow(int(l.from), int(l.end), sep, false)
	if r.locateFields(hits); !r.anyWhole(hits) {
		return false
	}
	return r.judgeFields(hits, nil)
}

// separator returns the character beside an identifier that may part fields, or 0.
func (r *Reader) separator(l *line, h *hit) byte {
	at := int(h.to)
	if at < int(l.to) && r.b[at] == '"' {
		at++
	}
	if at < int(l.to) && bytes.IndexByte([]byte(separators), r.b[at]) >= 0 {
		return r.b[at]
	}
	at = int(h.from) - 1
	if at >= int(l.from) && r.b[at] == '"' {
		at--
	}
	if at >= int(l.from) && bytes.IndexByte([]byte(separators), r.b[at]) >= 0 {
		return r.b[at]
	}
	return 0
}

// fieldsOf counts a separator in a line.
func (r *Reader) fieldsOf(i int, sep byte) int32 {
	l := &r.lines[i]
	if l.counted != sep {
		l.counted = sep
		l.count = int32(bytes.Count(r.b[l.from:l.to], []byte{sep}))
	}
	return l.count
}
