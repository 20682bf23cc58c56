package scan

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/vigiahq/vigia/internal/dump/scan/record"
	"github.com/vigiahq/vigia/internal/identifier"
)

// Records of fixed width have nothing between their columns: 5299822472519800131SP11987654321. Which digits are whose
// is told by the rows around: all have as many characters, and what stands in the same place of many of them has the
// right check digits. A text without long runs of digits is never asked.

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

// placeOfCharacter returns where character n of the row stands in b.
func (r *fixedRow) placeOfCharacter(b []byte, n int) int {
	at := r.from
	for ; n > 0 && at < r.to; n-- {
		size := 1
		if b[at] >= utf8.RuneSelf && len(r.text) < r.to-r.from {
			_, size = utf8.DecodeRune(b[at:r.to])
		}
		at += size
	}
	return at
}

// fixedForm is what may stand in a column of fixed width: of so many characters, and read into its normal form.
type fixedForm struct {
	kind  identifier.Kind
	width int
	least int // different values
	read  func(dst, text []byte) ([]byte, bool)
}

var (
	checkedForms = []*fixedForm{
		{identifier.CPF, 11, fewestRows, func(dst, text []byte) ([]byte, bool) { // with blanks for zeros or not
			for i, c := range text {
				if c == ' ' && i < 3 && (i == 0 || text[i-1] == ' ' || text[i-1] == '0') {
					c = '0'
				}
				dst = append(dst, c)
			}
			return dst, identifier.IsValidCPF(dst)
		}},
		{identifier.CPF, 14, fewestRows, func(dst, text []byte) ([]byte, bool) {
			dst = append(append(append(append(dst, text[:3]...), text[4:7]...), text[8:11]...), text[12:]...)
			return dst, text[3] == '.' && text[7] == '.' && text[11] == '-' && identifier.IsValidCPF(dst)
		}},
		{identifier.CNPJ, 14, fewestRows, func(dst, text []byte) ([]byte, bool) {
			return append(dst, text...), digitsOnly(text) && identifier.ValidCNPJ(text)
		}},
		// One digit in ten is the right one by chance.
		{identifier.Card, 16, fewestRows + 1, func(dst, text []byte) ([]byte, bool) {
			return append(dst, text...), digitsOnly(text) && record.IsCardNumber(text)
		}},
	}
	dateForm = &fixedForm{
		width: 8,
		least: fewestRows,
		read:  func(dst, text []byte) ([]byte, bool) { return dst, digitsOnly(text) && record.ParseYear(text) > 0 },
	}
)

// readFixedPhone reads a phone with zeros, blanks or the country code before it.
func readFixedPhone(dst, text []byte) ([]byte, bool) {
	text = bytes.TrimRight(bytes.TrimLeft(text, " 0"), " ")
	if record.Brazilian(text) {
		text = text[2:]
	}
	return identifier.AppendBrazilianPhone(dst, text)
}

// fixedColumn is a column of fixed width.
type fixedColumn struct {
	*fixedForm
	at     int
	births bool // its dates are of births
	// Rows of several kinds have a character that tells which: the column is only in those that have one of these
	// there.
	typeAt int
	types  []byte
}

// textInRow returns what the column has in a row, and whether there is anything: not blanks, nor the same character all
// over.
func (c *fixedColumn) textInRow(row []byte) (text []byte, isThere bool) {
	text = row[c.at : c.at+c.width]
	return text, isDigit(text[c.width-1]) && bytes.Count(text, text[:1]) < len(text)
}

// appendValue appends the normal form of what the column has in a row.
func (c *fixedColumn) appendValue(dst, row []byte) ([]byte, bool) {
	if len(c.types) > 0 && !slices.Contains(c.types, row[c.typeAt]) {
		return dst, false
	}
	return c.read(dst, row[c.at:c.at+c.width])
}

// fixedRows are lines of the same width, and what is known of their columns.
type fixedRows struct {
	rows    []fixedRow
	width   int
	columns []fixedColumn
	used    []bool // places that are of a column
	stops   []int  // where digits end
	room    [margin]byte
}

// noteRun remembers the digits b[i:j], which are more than one number has or touch others, for fixed.
func (s *finder) noteRun(b []byte, i, j int) {
	inHash := func(beside, behind int) bool { // such characters as hashes have
		return behind >= 0 && behind < len(b) && beside < len(b) && class[b[beside]]&hexOnly != 0 &&
			isHexDigit(b[behind])
	}
	listed := func(k int) bool { return k >= 0 && k < len(b) && bytes.IndexByte([]byte(",;|:\t\"'=>"), b[k]) >= 0 }
	left, right := listed(i-1), listed(j)
	if s.isView || j-i < longestRun && (left || right) || left && right || inHash(i-1, i-2) || inHash(j, j+1) {
		return
	}
	s.runs = append(s.runs, i)
}

// readFixedRows reads the records of fixed width with the runs that were noted. b lies base bytes after the beginning
// of the text.
func (r *Recorder) readFixedRows(b []byte, base int64) {
	done, judged := -cell, 0 // the last cell that was read, and the end of the last line that was looked at
	for _, at := range r.finder.runs {
		if at < judged {
			continue
		}
		low := max(0, at-widestRow)
		n := bytes.LastIndexByte(b[low:at], '\n')
		line, next := lineFrom(b, low+n+1)
		judged = next
		if n < 0 && low > 0 || len(line) > widestRow {
			continue // too wide
		}
		beside, _ := lineFrom(b, min(next, len(b)))
		if next >= len(b) && low+n > 0 {
			beside = b[max(low, bytes.LastIndexByte(b[:low+n], '\n')+1) : low+n]
		}
		if start := low + n + 1; lineWidth(line) == lineWidth(beside) && start-int((base+int64(start))%cell) > done {
			done = start - int((base+int64(start))%cell)
			r.fixedCell(b, done)
		}
	}
	r.finder.runs = r.finder.runs[:0]
}

// lineFrom returns the line at b[at], little more of it than a row has, and where the next begins.
func lineFrom(b []byte, at int) (line []byte, next int) {
	line = b[at:min(len(b), at+widestRow+1)]
	if n := bytes.IndexByte(line, '\n'); n >= 0 {
		line = line[:n]
	}
	return line, at + len(line) + 1
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
	f := &r.finder.layout
	if !f.readRows(b, max(0, start-fixedReach), min(len(b), start+cell+fixedReach)) || !f.inferColumns() {
		return
	}
	for i := range f.rows {
		row := &f.rows[i]
		if row.from < start || row.from >= start+cell {
			continue
		}
		classes, any := record.Classes(0), false
		for k := range f.columns {
			c := &f.columns[k]
			normal, ok := c.appendValue(f.room[:0], row.text)
			if !ok {
				continue
			}
			if c.fixedForm != dateForm {
				any = true
				r.records.AddFixed(c.kind, normal, row.placeOfCharacter(b, c.at), row.placeOfCharacter(b, c.at+c.width))
			} else if c.births {
				classes |= record.BirthDate
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
		from := row.placeOfCharacter(b, at)
		inner := finder{
			isView:    true,
			addWeak:   func(identifier.Kind, []byte, int, int) {},
			addNumber: func(*record.Number) bool { return true },
		}
		inner.addSign = func(kind identifier.Kind, normal []byte, first, last int) {
			if kind == identifier.Email && first == 0 {
				r.records.AddFixed(kind, normal, from, from+last)
			}
		}
		inner.extract(b[from:row.to], 0, row.to-from)
	}
}

// readRows takes the lines of b[low:high] that have the width of most of them, and says whether there are enough of
// these.
func (f *fixedRows) readRows(b []byte, low, high int) bool {
	f.rows = f.rows[:0]
	if low > 0 && b[low-1] != '\n' {
		low += bytes.IndexByte(b[low:high], '\n') + 1
	}
	votes, all := 0, 0
	for low < high {
		line, next := lineFrom(b, low)
		if next > high && high < len(b) {
			break // goes on
		}
		if line = bytes.TrimSuffix(line, []byte("\r")); len(line) >= 11 && len(line) <= widestRow {
			row := fixedRow{low, low + len(line), line}
			if lineWidth(line) < len(line) {
				row.text = make([]byte, 0, len(line))
				for _, c := range string(line) {
					row.text = append(row.text, byte(min(c, 0x80)))
				}
			}
			if votes == 0 {
				f.width = len(row.text)
			}
			if votes--; len(row.text) == f.width {
				votes += 2
			} else if votes < 0 {
				votes = 0
			}
			f.rows = append(f.rows, row)
			all++
		}
		low = next
	}
	f.rows = slices.DeleteFunc(f.rows, func(r fixedRow) bool {
		return len(r.text) != f.width || bytes.IndexByte([]byte("{[(<"), r.text[0]) >= 0 // has a form of its own
	})
	return len(f.rows) >= fewestRows && len(f.rows)*2 > all
}

// inferColumns finds the columns of the rows.
func (f *fixedRows) inferColumns() bool {
	f.columns, f.stops, f.used = f.columns[:0], f.stops[:0], make([]bool, f.width)
	for _, form := range checkedForms {
		f.findColumns(form, f.rows)
	}
	rows := f.rows
	if len(f.columns) > 0 { // the rest is asked of rows with a person in them
		rows = slices.DeleteFunc(slices.Clone(rows), func(r fixedRow) bool {
			return !slices.ContainsFunc(
				f.columns,
				func(c fixedColumn) bool { _, ok := c.appendValue(f.room[:0], r.text); return ok },
			)
		})
	}
	f.findColumns(dateForm, rows)
	f.findPhones(rows)
	f.stops = slices.DeleteFunc(f.stops, func(at int) bool { return at >= f.width || digitColumn(rows, at) })
	return slices.ContainsFunc(f.columns, func(c fixedColumn) bool { return c.fixedForm != dateForm })
}

// findColumns adds the columns of a form, which its check digits or its digits tell, where nothing else was found.
func (f *fixedRows) findColumns(form *fixedForm, rows []fixedRow) {
	for at := 0; at+form.width <= f.width; at++ {
		c := fixedColumn{fixedForm: form, at: at}
		if slices.Contains(f.used[at:at+form.width], true) || !f.holdsInRows(&c, rows) {
			continue
		}
		f.columns = append(f.columns, c)
		for k := at; k < at+form.width; k++ {
			f.used[k] = true
		}
		f.stops = append(f.stops, at+form.width)
	}
}

// holdsInRows reports whether what stands in the place of the column in many rows is what it is to be.
func (f *fixedRows) holdsInRows(c *fixedColumn, rows []fixedRow) bool {
	n, right, old := 0, 0, 0
	var all, good [256]int // by the last of the characters before the column that differ
	seen := map[string]bool{}
	for i := range rows {
		text, isThere := c.textInRow(rows[i].text)
		if !isThere {
			continue
		}
		if n++; n > 24 && right == 0 {
			return false
		}
		if _, ok := c.read(f.room[:0], text); ok {
			if right++; len(seen) < c.least {
				seen[string(text)] = true
			}
			if c.fixedForm == dateForm && record.LongAgo(record.ParseYear(text)) {
				old++
			}
		}
	}
	switch {
	case len(seen) < c.least || right*5 < 2*n:
		return false
	case right*10 >= 7*n:
		c.births = old*3 >= right // so old that they are hardly of anything else
		return true
	case c.fixedForm == dateForm:
		return false
	}
	// Some character tells the rows with the column from others.
	for at := range f.width {
		clear(all[:])
		clear(good[:])
		for i := range rows {
			if text, isThere := c.textInRow(rows[i].text); isThere && (at < c.at || at >= c.at+c.width) {
				all[rows[i].text[at]]++
				if _, ok := c.read(f.room[:0], text); ok {
					good[rows[i].text[at]]++
				}
			}
		}
		covered := 0
		c.typeAt, c.types = at, nil
		for v, n := range good {
			if n >= fewestRows && n*10 >= 7*all[v] {
				c.types = append(c.types, byte(v))
				covered += n
			}
		}
		if covered*10 >= right*9 {
			return true
		}
	}
	return false
}

// findPhones adds columns of phones. These have no check digits: such a column has the place between two others, or
// between letters, for itself, or is of mobiles at either end of it.
func (f *fixedRows) findPhones(rows []fixedRow) {
	const mobile = 11
	for at := 0; at < f.width; at++ {
		end := at
		for end < f.width && !f.used[end] && digitColumn(rows, end) {
			end++
		}
		if end-at < 6 {
			continue
		}
		f.stops = append(f.stops, end)
		for i, from := range [3]int{at, at, end - mobile} {
			width := mobile
			if i == 0 {
				width = end - at
			}
			c := fixedColumn{
				fixedForm: &fixedForm{kind: identifier.Phone, width: width, read: readFixedPhone},
				at:        from,
			}
			if (i == 0 && width >= mobile-1 && width <= 15 || i > 0 && end-at > mobile) && f.dialled(&c, rows, i > 0) {
				f.columns, f.stops = append(f.columns, c), append(f.stops, from+width)
				break
			}
		}
		at = end
	}
}

// digitColumn reports whether nearly all rows have a digit, or else a blank, in a place.
func digitColumn(rows []fixedRow, at int) bool {
	digits := 0
	for i := range rows {
		c := rows[i].text[at]
		if isDigit(c) {
			digits++
		} else if c != ' ' {
			return false
		}
	}
	return digits*10 >= 8*len(rows) && digits > 0
}

// dialled reports whether nearly all of what stands in the column are phones: many, and not one after another, as
// numbers of things are. Within more digits they must be mobiles of several areas.
func (f *fixedRows) dialled(c *fixedColumn, rows []fixedRow, within bool) bool {
	const many = 8
	n, right, mobiles, times := 0, 0, 0, 0
	areas, exchanges := map[string]bool{}, map[string]bool{}
	for i := range rows {
		text := rows[i].text[c.at : c.at+c.width]
		if bytes.Count(text, text[:1]) == len(text) {
			continue
		}
		n++
		normal, ok := c.read(f.room[:0], text)
		if !ok {
			continue
		}
		right++
		if len(normal) == len("+5511987654321") && (!within || text[2] == '9' && isDigit(text[10])) {
			mobiles++
		}
		if normal[3] == '1' && normal[4] >= '2' && normal[4] <= '7' {
			times++
		}
		areas[string(normal[3:5])] = true
		exchanges[string(normal[3:len(normal)-4])] = true
	}
	switch {
	case right < fewestRows || right*10 < 9*n || len(exchanges)*2 < right:
		return false
	case within:
		return mobiles == right && right >= many && len(areas) > 1
	}
	return mobiles*2 >= right || right >= many && times*2 < right
}
