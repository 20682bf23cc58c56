package record

import (
	"bytes"
	"unicode/utf8"
)

// tableForm is how the rows of a table are written.
type tableForm uint8

const (
	noTable   tableForm = iota
	separated           // by a character, perhaps in quotes
	aligned             // by where they stand in the line
	tuples              // of SQL statements
	copied              // rows of PostgreSQL's COPY
)

// layout is what a header says of the rows after it.
type layout struct {
	Form    tableForm
	Sep     byte
	Columns []column
	// Starts are where aligned columns begin, in characters.
	Starts []int
}

// readHeader reads the line b[from:to] as the heads of columns, or returns nil. At least one of them has to name an
// identifier, and nothing in it may look like a value.
func (r *Reader) readHeader(from, to int) *layout {
	text := r.b[from:to]
	if len(text) > 2<<10 {
		return nil
	}
	if !headerLike(text) {
		return r.singleHead(text)
	}
	text = bytes.TrimRight(text, "\r ")
	to = from + len(text)
	text = bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), "#")
	from = to - len(text)
	r.marks.ensureMarked(from, to)
	var best *layout
	for _, sep := range [...]byte{'\t', ';', '|', ',', ':'} {
		if bytes.IndexByte(text, sep) < 0 {
			continue
		}
		r.splitRow(from, to, sep, false)
		if l := r.judgeHeads(sep); l != nil && (best == nil || len(l.Columns) > len(best.Columns)) {
			best = l
		}
	}
	if best == nil {
		best = r.alignedHeader(text)
	}
	return best
}

// singleHead reads a line as the head of the only column of a table: one that says what digits under it are.
func (r *Reader) singleHead(text []byte) *layout {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	text = bytes.Trim(text, "\r\" ") // what may stand around it
	if len(text) > longestSingle || !nameLike(text) {
		return nil
	}
	if c := r.columnOf(text); c == colCPF || c == colPhone || c == colCard || c.ofThings() && c != colID {
		return &layout{Form: separated, Columns: []column{c}}
	}
	return nil
}

// longestSingle is how long the head of an only column may be: a line that is longer is a sentence.
const longestSingle = 24

// headerLike reports whether a line may be one at all: most are told from one by their first bytes.
func headerLike(text []byte) bool {
	digits, parts, before := 0, 0, byte(0)
	for _, c := range text {
		kind := headerByte[c]
		if kind == 'a' { // as most are
			digits, before = 0, c
			continue
		}
		switch kind {
		case 0:
			return false
		case '0':
			if digits++; digits > 3 {
				return false
			}
		case ',':
			parts++
		case ' ':
			if before == ' ' {
				parts++
			} else if before == ':' {
				return false // a label
			}
		}
		before = c
	}
	return parts > 0
}

// headerByte is 'a' for what names have, '0' for digits, ',' for what parts them, ' ' for spaces.
var headerByte = func() (t [256]byte) {
	for c := range 256 {
		switch k := kindOf[c]; {
		case k&hasLetter != 0:
			t[c] = 'a'
		case k&hasDigit != 0:
			t[c] = '0'
		}
	}
	for _, c := range "_-./()#'`[]\"\r" {
		t[c] = 'a'
	}
	for _, c := range "\t;|,:" {
		t[c] = ','
	}
	t[' '] = ' '
	return t
}()

// judgeHeads judges the fields of a line as heads of columns.
func (r *Reader) judgeHeads(sep byte) *layout {
	for _, f := range r.fields {
		if !nameLike(r.b[f.from:f.to]) {
			return nil
		}
	}
	l := &layout{Form: separated, Sep: sep, Columns: make([]column, 0, len(r.fields))}
	known, leads := 0, false
	for _, f := range r.fields {
		c := r.columnOf(bytes.TrimSpace(r.b[f.from:f.to]))
		l.Columns = append(l.Columns, c)
		if c != unknown {
			known++
		}
		leads = leads || c.identity() || c == colUsername || c == colDocument || c == colPix || c == colCNPJ ||
			c.ofThings()
	}
	if !leads || known < 2 && len(l.Columns) > 4 || len(l.Columns) < 2 || sep == ':' && known < len(l.Columns) {
		return nil
	}
	return l
}

// nameLike reports whether a field may be the head of a column: short, no number, few marks.
func nameLike(name []byte) bool {
	if len(name) > longestName {
		return false
	}
	if len(name) == 0 {
		return true // a column without a head
	}
	letters := uint8(0)
	for _, c := range name {
		if !inName[c] {
			return false
		}
		letters |= kindOf[c] & hasLetter
	}
	return letters != 0
}

// inName are the characters of a head.
var inName = byteSet(hasLetter|hasDigit|hasSpace, "_-.()/#'`[]")

// alignedHeader reads heads that are parted by two or more spaces.
func (r *Reader) alignedHeader(text []byte) *layout {
	if !bytes.Contains(text, []byte("  ")) {
		return nil
	}
	l := &layout{Form: aligned}
	leads := false
	place := 0 // in characters
	for i := 0; i < len(text); {
		if text[i] == ' ' {
			i, place = i+1, place+1
			continue
		}
		end := bytes.Index(text[i:], []byte("  "))
		if end < 0 {
			end = len(text) - i
		}
		name := text[i : i+end]
		if !nameLike(name) {
			return nil
		}
		c := r.columnOf(name)
		l.Columns, l.Starts = append(l.Columns, c), append(l.Starts, place)
		leads = leads || c.identity()
		i, place = i+end, place+utf8.RuneCount(name)
	}
	if !leads || len(l.Columns) < 2 {
		return nil
	}
	return l
}
