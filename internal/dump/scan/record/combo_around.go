package record

import "bytes"

const (
	// neighbourhood is how many lines to either side are asked, and how far they may be.
	neighbourhood      = 3
	neighbourhoodBytes = 2 << 10
)

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
