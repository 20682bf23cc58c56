package record

import "bytes"

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
