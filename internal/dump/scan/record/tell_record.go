package record

import "bytes"

// tellRecord tells the record of hit k, which stands in l, which is line i, and returns how many hits it handed out.
// What describes itself comes before what a header says.
func (r *Reader) tellRecord(l *line, i, k int) int {
	if r.mail {
		r.handOutAlone(r.hits[k:l.last])
		return int(l.last) - k
	}
	if l.long {
		return r.inLongLine(i, k)
	}
	first := r.b[l.text]
	if leads[first] != 0 || l.text > l.from {
		if n := r.described(i, k, first); n > 0 {
			return n
		}
	}
	hits := r.hits[k:l.last]
	if in := r.inForce().Layout; in != nil && r.readTableRow(l, hits, in) {
		return len(hits)
	}
	all := len(hits)
	if all > 1 || hits[0].length&weak != 0 {
		if hits = strongHits(hits); len(hits) == 0 { // they may still be those of a block
			return max(all, r.inBlock(i, k))
		}
	}
	if hits[0].from > l.text && kindOf[first] != hasDigit { // else it cannot have a label, nor an address
		if n := r.inBlock(i, k); n > 0 {
			return n
		}
		if r.credential(i, hits) {
			return all
		}
	}
	if !r.readComboLine(l, i, hits) && !r.headless(i, hits) {
		r.handOutUntold(hits)
	}
	return all
}

// What a line may be by its first character.
const (
	leadsTuple uint8 = 1 + iota
	leadsStatement
	leadsObject
	leadsMarkup
)

var leads = [256]uint8{
	'(':  leadsTuple,
	'I':  leadsStatement,
	'i':  leadsStatement,
	'R':  leadsStatement,
	'r':  leadsStatement,
	'V':  leadsStatement,
	'v':  leadsStatement,
	'{':  leadsObject,
	'[':  leadsObject,
	'}':  leadsObject,
	']':  leadsObject,
	',':  leadsObject,
	'\t': leadsObject,
	'<':  leadsMarkup,
}

// described tells the record of hit k, which stands in line i, if that is written in a way that describes itself. The
// text of the line begins with first.
func (r *Reader) described(i, k int, first byte) int {
	l := &r.lines[i]
	switch leads[first] {
	case leadsTuple, leadsStatement:
		if first == '(' || r.beginsStatement(int(l.text)) {
			if n := r.inTuple(i, k); n > 0 {
				return n
			}
		}
	case leadsObject:
		if n := r.inObject(i, k); n > 0 {
			return n
		}
	case leadsMarkup:
		hits := r.hits[k:l.last]
		if isMarkupRow(r.b[l.text:l.to]) {
			r.handOutAlone(hits)
		} else {
			r.handOutUntold(hits)
		}
		return len(hits)
	}
	if l.text > l.from { // "name": of JSON over many lines, or a field in quotes
		return r.inObject(i, k)
	}
	return 0
}

// inLongLine tells the record of a hit in a line that is longer than a record.
func (r *Reader) inLongLine(i, k int) int {
	if n := r.inObject(i, k); n > 0 {
		return n
	}
	if c := r.b[max(0, int(r.hits[k].from)-1)]; c == '\'' || c == '"' || c == ',' || c == '(' || c == ' ' || c == '+' {
		if n := r.inTuple(i, k); n > 0 {
			return n
		}
	}
	r.handOutUntold(r.hits[k : k+1])
	return 1
}

// beginsStatement reports whether b[at:] begins with a word of SQL.
func (r *Reader) beginsStatement(at int) bool {
	text := r.b[at:min(len(r.b), at+10)]
	return keyword(text, 0, "insert") > 0 || keyword(text, 0, "replace") > 0 || keyword(text, 0, "values") > 0
}

// isMarkupRow reports whether a line is a row of an HTML table.
func isMarkupRow(text []byte) bool {
	return bytes.HasPrefix(text, []byte("<tr")) || bytes.HasPrefix(text, []byte("<TR")) ||
		bytes.HasPrefix(text, []byte("<row"))
}
