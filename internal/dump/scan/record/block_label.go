package record

import "bytes"

// readLabel reads "Name: value" or "Name = value" and returns what the name says and where the value begins. plain says
// that the line has the shape of one, whether or not the name is known.
func (r *Reader) readLabel(from, to int) (c column, value int, plain bool) {
	b := r.b
	for from < to && beforeLabel[b[from]] {
		from++
	}
	end := from
	for _, c := range b[from:min(to, from+longestName)] {
		if labelByte[c] != inLabel {
			break
		}
		end++
	}
	if end >= to || end == from || end >= from+longestName || labelByte[b[end]] != endsLabel {
		return unknown, 0, false
	}
	value = end + 1
	if b[end] == ';' { // TEL;TYPE=CELL: of a vCard
		n := bytes.IndexByte(b[end:to], ':')
		if n < 0 || n > 64 {
			return unknown, 0, false
		}
		value = end + n + 1
	}
	name := b[from:end]
	if name[0] == 'i' && bytes.HasPrefix(name, []byte("item")) {
		if n := bytes.IndexByte(name, '.'); n >= 0 && n < 8 {
			name = name[n+1:]
		}
	}
	for value < to && (b[value] == ' ' || b[value] == '\t' || b[value] == ':') {
		value++
	}
	return r.labelOf(name), value, true
}

// labelOf is columnOf for a name that is not empty and most likely comes again and again.
func (r *Reader) labelOf(name []byte) column {
	return r.labels[(int(name[0])*5+int(name[len(name)-1])*3+len(name))&(len(r.labels)-1)].columnFor(r, name)
}

// beforeLabel is what lines with labels may be indented and listed with.
var beforeLabel = [256]bool{' ': true, '\t': true, '-': true, '*': true, '[': true, '>': true}

// What a character is in the name of a label.
const (
	noLabel uint8 = iota
	inLabel
	endsLabel
)

// labelByte says which bytes a label may hold.
var labelByte = func() (t [256]uint8) {
	for c, isIn := range byteSet(hasLetter|hasDigit|hasSpace, "_-./']()") {
		if isIn {
			t[c] = inLabel
		}
	}
	t[':'], t['='], t[';'] = endsLabel, endsLabel, endsLabel
	return t
}()

// mayRule are the characters that lines that part records may begin with: marks, and the letters of BEGIN and END.
var mayRule = byteSet(hasSpace|hasMark, "bBeE")

// isRuler reports whether a line parts records: nothing, or a row of the same marks.
func isRuler(text []byte) bool {
	if len(text) > 0 && !mayRule[text[0]] {
		return false
	}
	text = bytes.TrimRight(text, " \t\r")
	if len(text) == 0 {
		return true
	}
	if len(text) <= 11 && bytes.EqualFold(text, []byte("begin:vcard")) || bytes.EqualFold(text, []byte("end:vcard")) {
		return true
	}
	if len(text) < 3 || kindOf[text[0]]&hasMark == 0 {
		return false
	}
	for _, c := range text {
		if c != text[0] && c != ' ' {
			return false
		}
	}
	return true
}
