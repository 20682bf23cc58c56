package record

import "bytes"

// columnPlace tells the column of the number b[from:to] by what stands before it in its record, or 0 if that cannot be
// told, and what the label right before it says. It needs no header and no known format: a column is a name, or how
// often the separator before the number comes in its row.
func (r *Reader) columnPlace(from, to int) (place uint32, name column) {
	b, p, blanks := r.b, from, 0
	for p > 0 && from-p < 6 && beforeNumber[b[p-1]] {
		if p--; b[p] == ' ' {
			blanks++
		}
	}
	low := max(0, from-columnReach)
	if p == 0 || b[p-1] == '\n' {
		end := byte(0) // tells the lists apart that begin with numbers
		for k := to; k < len(b) && k < to+2; k++ {
			if end = b[k]; end != '"' {
				break
			}
		}
		return 1 + uint32(end)<<8, unknown
	}
	switch c := b[p-1]; {
	case c == '>':
		open, start := bytes.LastIndexByte(b[max(low, p-64):p], '<'), r.rowStart(low, p)
		if open < 0 || start < 0 {
			return 0, unknown
		}
		tag := b[max(low, p-64)+open+1 : p-1]
		if n := bytes.IndexByte(tag, ' '); n >= 0 {
			tag = tag[:n]
		}
		return hashName(tag) + uint32(bytes.Count(b[start:p], []byte{'>'})), r.columnOf(tag)
	case c == '=', c == ':':
		end := p - 1
		quoted := blanks > 0 && c == ':' || c == '='
		for end > low && (b[end-1] == '"' || b[end-1] == '\'' || b[end-1] == ' ' || b[end-1] == '\\') {
			end--
			quoted = true
		}
		at := end
		for at > low && end-at <= longestName && inKey[b[at-1]] {
			at--
		}
		word := b[at:end]
		if len(word) > 0 {
			if said := r.labelOf(word); said != unknown || quoted {
				return hashName(word), said
			}
		}
		fallthrough
	case partsRows[c]:
		start := r.rowStart(low, p)
		if start < 0 && c != ',' {
			return 0, unknown
		}
		if start < 0 || b[start] == '(' || leads[b[start]] == leadsStatement {
			row := r.tupleStart(max(start, low), from)
			if row < 0 && start < 0 {
				return 0, unknown
			}
			if row >= 0 {
				return 3 + uint32(bytes.Count(b[row:from], comma))<<8, unknown
			}
		}
		return 2 + uint32(c)<<8 + uint32(countFields(b[start:p], c))<<16, unknown
	case blanks == 1:
		at := p
		for at > low && p-at <= longestName && kindOf[b[at-1]]&hasLetter != 0 {
			at--
		}
		if said := r.columnOf(b[at:p]); said.identity() || said == colPaper || said == colCNPJ {
			return 0, said
		}
	case blanks > 1:
		if start := r.rowStart(low, p); start >= 0 {
			return 4 + uint32(from-start)<<8, unknown
		}
	}
	return 0, unknown
}

// rowStart returns where the line of b[p] begins, or -1 if that is before b[low].
func (r *Reader) rowStart(low, p int) int {
	if n := r.marks.lineBefore(low, p); n >= 0 || low == 0 {
		return n + 1
	}
	return -1
}

var comma = []byte{','}

// rowPlace is where a row of a statement begins that was read from low up to a place; -1: there is none.
type rowPlace struct{ low, start, at int }

// tupleStart finds the parenthesis in b[low:at] that begins the row of a statement, or -1.
func (r *Reader) tupleStart(low, at int) int {
	b, w, end := r.b, &r.row, at
	if w.at > low && w.at <= at && (w.start > low || w.start < 0 && w.low <= low) &&
		bytes.IndexByte(b[w.at:at], '(') < 0 {
		w.at = at
		return w.start
	}
	*w = rowPlace{low, -1, at}
	for end > low {
		n := bytes.LastIndexByte(b[low:end], '(')
		if n < 0 {
			return -1
		}
		end = low + n
		if end == low || b[end-1] == ',' || b[end-1] == ' ' || b[end-1] == '\n' {
			w.start = end
			return end
		}
	}
	return -1
}

// countFields counts the separators in the beginning of a row that stand outside of quotes.
func countFields(row []byte, sep byte) (n int) {
	if bytes.IndexByte(row, '"') < 0 {
		return bytes.Count(row, []byte{sep})
	}
	inside := false
	for _, c := range row {
		if c == '"' {
			inside = !inside
		} else if c == sep && !inside {
			n++
		}
	}
	return n
}

// beforeNumber is what may stand between a number and what is before its field; inKey are the characters of names, and
// partsRows those that part the fields of rows.
var (
	beforeNumber = [256]bool{'"': true, '\'': true, ' ': true, '+': true, '(': true, '[': true, '\\': true}
	partsRows    = [256]bool{
		',':  true,
		';':  true,
		'|':  true,
		'\t': true,
		':':  true,
		'~':  true,
		'^':  true,
		0:    true,
		1:    true,
	}
	inKey = byteSet(hasLetter|hasDigit, "_-")
)
