package scan

import (
	"bytes"
	"unicode/utf8"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/scan/record"
)

// Records of fixed width have nothing between their columns: 5299822472519800131SP11987654321. Which digits are whose is
// told by the rows around: all have as many characters, and what stands in the same place of many of them has the right
// check digits. A text without long runs of digits is never asked.

const (
	// fixedReach is how far to either side of a cell rows are compared.
	fixedReach = cell
	// widestRow is how many characters a row may have, so that several are seen at once.
	widestRow = 2 << 10
	// fewestRows have to say the same: three right CPFs in the same place come by chance once in a million times.
	fewestRows = 3
)

// fixedRow is a line of a text. Its characters are bytes: what is beyond ASCII is only counted.
type fixedRow struct {
	from, to int
	text     []byte
}

// fixedRows are lines of the same width, and what is known of their columns.
type fixedRows struct {
	rows    []fixedRow
	width   int
	flat    []byte // texts of rows that have characters of several bytes
	columns []fixedColumn
	stops   []int // where digits end
}

// noteRun remembers the digits b[i:j], which are more than one number has or touch others, for fixed.
func (s *finder) noteRun(b []byte, i, j int) {
	if s.isView || inHash(b, i-1, i-2) || inHash(b, j, j+1) {
		return
	}
	left, right := listed(b, i-1), listed(b, j)
	if j-i < longestRun && (left || right) || left && right {
		return
	}
	s.runs = append(s.runs, i)
}

// inHash says whether the character beside a run of digits, and the one behind it, are such as hashes have.
func inHash(b []byte, beside, behind int) bool {
	return behind >= 0 && behind < len(b) && beside < len(b) && class[b[beside]]&hexOnly != 0 && isHex(b[behind])
}

// listed says whether b[k] parts the fields of a list.
func listed(b []byte, k int) bool { return k >= 0 && k < len(b) && partsFields[b[k]] }

var partsFields = [256]bool{',': true, ';': true, '|': true, ':': true, '\t': true, '"': true, '\'': true, '=': true, '>': true}

// fixed reads the records of fixed width with the runs that were noted. b lies base bytes after the beginning of the text.
func (r *Recorder) fixed(b []byte, base int64) {
	s := &r.finder
	done, judged := -cell, 0 // the last cell that was read, and the end of the last line that was looked at
	for _, at := range s.runs {
		if at < judged {
			continue
		}
		low := max(0, at-widestRow)
		n := bytes.LastIndexByte(b[low:at], '\n')
		judged = len(b)
		if end := bytes.IndexByte(b[at:], '\n'); end >= 0 {
			judged = at + end
		}
		line := low + n + 1
		if n < 0 && low > 0 || judged-line > widestRow {
			continue // too wide
		}
		if start := line - int((base+int64(line))%cell); start > done && amongRows(b, line) {
			done = start
			r.fixedCell(b, start)
		}
	}
	s.runs = s.runs[:0]
}

// amongRows says whether the line at b[start] is one of three, one after the other, with as many characters.
func amongRows(b []byte, start int) bool {
	line, next := lineAt(b, start)
	same, at := 1, next
	for same < fewestRows && at < len(b) {
		row, next := lineAt(b, at)
		if !sameWidth(line, row) {
			break
		}
		same, at = same+1, next
	}
	for at = start; same < fewestRows && at > 0; same++ {
		low := max(0, at-2-widestRow)
		n := bytes.LastIndexByte(b[low:at-1], '\n')
		if n < 0 && low > 0 || !sameWidth(line, b[low+n+1:at-1]) {
			break
		}
		at = low + n + 1
	}
	return same >= fewestRows
}

// lineAt is the line at b[at], no more of it than a row has, and where the next begins.
func lineAt(b []byte, at int) (line []byte, next int) {
	line = b[at:min(len(b), at+widestRow+1)]
	if n := bytes.IndexByte(line, '\n'); n >= 0 {
		line = line[:n]
	}
	return line, at + len(line) + 1
}

// sameWidth says whether two lines have as many characters. Few have many of several bytes.
func sameWidth(a, b []byte) bool {
	const most = 24
	return len(a) == len(b) || len(a)-len(b) < most && len(b)-len(a) < most && lineWidth(a) == lineWidth(b)
}

// lineWidth counts the characters of a line.
func lineWidth(line []byte) int {
	line = bytes.TrimSuffix(line, []byte("\r"))
	if n := utf8.RuneCount(line); n < len(line) && utf8.Valid(line) {
		return n
	}
	return len(line)
}

// fixedCell reads the rows that begin in the cell at b[start].
func (r *Recorder) fixedCell(b []byte, start int) {
	s := &r.finder
	f := &s.layout
	if !f.read(b, max(0, start-fixedReach), min(len(b), start+cell+fixedReach)) || !f.infer() {
		return
	}
	for i := range f.rows {
		row := &f.rows[i]
		if row.from < start || row.from >= start+cell || len(row.text) != f.width {
			continue
		}
		classes, any := record.Classes(0), false
		for k := range f.columns {
			c := &f.columns[k]
			normal, ok := c.value(s.text[:0], row.text)
			switch {
			case !ok:
			case c.form == dateForm:
				if c.births {
					classes |= record.BirthDate
				}
			default:
				any = true
				r.records.AddFixed(c.form.kind(), normal, row.place(b, c.at), row.place(b, c.at+c.width))
			}
		}
		if any {
			r.gluedMail(b, row)
			r.records.AddRow(row.from, row.to, classes)
		}
	}
}

// gluedMail finds the addresses that stand right behind a column: the digits before them are none of theirs.
func (r *Recorder) gluedMail(b []byte, row *fixedRow) {
	if bytes.IndexByte(b[row.from:row.to], '@') < 0 {
		return
	}
	for _, at := range r.finder.layout.stops {
		from := row.place(b, at)
		if from >= row.to || class[b[from]]&inLocal == 0 {
			continue
		}
		end := from
		for end < row.to && class[b[end]]&inLocal != 0 {
			end++
		}
		if end >= row.to || b[end] != '@' {
			continue
		}
		inner := finder{isView: true, addWeak: func(identifier.Kind, []byte, int, int) {}, addNumber: func(*record.Number) bool { return true }}
		inner.addSign = func(kind identifier.Kind, normal []byte, first, last int) {
			if kind == identifier.Email && first == 0 {
				r.records.AddFixed(kind, normal, from, from+last)
			}
		}
		inner.extract(b[from:row.to], 0, row.to-from)
	}
}

// read takes the lines of b[low:high], and says whether enough of them have the same width, that of most of them.
func (f *fixedRows) read(b []byte, low, high int) bool {
	f.rows, f.flat, f.width = f.rows[:0], f.flat[:0], 0
	at := low
	if low > 0 && b[low-1] != '\n' {
		n := bytes.IndexByte(b[low:high], '\n')
		if n < 0 {
			return false
		}
		at = low + n + 1
	}
	for at < high {
		n := bytes.IndexByte(b[at:high], '\n')
		if n < 0 && high < len(b) {
			break // goes on
		}
		end, next := at+n, at+n+1
		if n < 0 {
			end, next = high, high
		}
		if end > at && b[end-1] == '\r' {
			end--
		}
		if end-at >= 11 && end-at <= widestRow {
			f.add(b, at, end)
		}
		at = next
	}
	return f.commonWidth()
}

// add takes the line b[from:to].
func (f *fixedRows) add(b []byte, from, to int) {
	row := fixedRow{from, to, b[from:to]}
	if lineWidth(row.text) < len(row.text) {
		start := len(f.flat)
		for _, c := range string(row.text) {
			f.flat = append(f.flat, byte(min(c, 0x80)))
		}
		row.text = f.flat[start:]
	}
	f.rows = append(f.rows, row)
}

// place is where character n of the row stands in b.
func (r *fixedRow) place(b []byte, n int) int {
	if len(r.text) == r.to-r.from {
		return r.from + n
	}
	at := r.from
	for ; n > 0 && at < r.to; n-- {
		_, size := utf8.DecodeRune(b[at:r.to])
		at += size
	}
	return at
}

// commonWidth finds the width that more than half of the rows have.
func (f *fixedRows) commonWidth() bool {
	votes := 0
	for i := range f.rows {
		switch n := len(f.rows[i].text); {
		case votes == 0:
			f.width, votes = n, 1
		case n == f.width:
			votes++
		default:
			votes--
		}
	}
	same := 0
	for i := range f.rows {
		if len(f.rows[i].text) == f.width && !structured(f.rows[i].text[0]) {
			same++
		}
	}
	return same >= fewestRows && same*2 > len(f.rows)
}

// structured says whether a line that begins with c has a form of its own.
func structured(c byte) bool { return c == '{' || c == '[' || c == '(' || c == '<' }
