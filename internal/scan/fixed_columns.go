package scan

import (
	"slices"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/scan/record"
)

// fixedForm is what stands in a column of fixed width.
type fixedForm uint8

const (
	cpfForm    fixedForm = iota // 52998224725, with blanks for zeros or not
	dottedForm                  // 529.982.247-25
	cnpjForm
	cardForm
	dateForm // 19800131 or 31011980
	phoneForm
)

func (f fixedForm) kind() identifier.Kind {
	return [...]identifier.Kind{cpfForm: identifier.CPF, dottedForm: identifier.CPF, cnpjForm: identifier.CNPJ, cardForm: identifier.Card, phoneForm: identifier.Phone}[f]
}

// fixedColumn is a column of fixed width.
type fixedColumn struct {
	form      fixedForm
	at, width int
	births    bool // its dates are of births
	// Rows of several kinds have a character that tells which: the column is only in those that have one of these there.
	typeAt int
	types  []byte
}

// value appends the normal form of what the column has in a row.
func (c *fixedColumn) value(dst, row []byte) ([]byte, bool) {
	if len(c.types) > 0 && !slices.Contains(c.types, row[c.typeAt]) {
		return dst, false
	}
	return c.form.read(dst, row[c.at:c.at+c.width])
}

// read appends the normal form of a value, if it is one.
func (f fixedForm) read(dst, text []byte) ([]byte, bool) {
	start := len(dst)
	switch f {
	case cpfForm:
		for _, c := range text {
			if c == ' ' && len(dst)-start < 3 && (len(dst) == start || dst[len(dst)-1] == '0') {
				c = '0'
			}
			if dst = append(dst, c); !isDigit(c) {
				return dst, false
			}
		}
		return dst, identifier.ValidCPF(dst[start:])
	case dottedForm:
		if text[3] != '.' || text[7] != '.' || text[11] != '-' {
			return dst, false
		}
		dst = append(append(append(append(dst, text[:3]...), text[4:7]...), text[8:11]...), text[12:]...)
		return dst, digitsOnly(dst[start:]) && identifier.ValidCPF(dst[start:])
	case cnpjForm:
		return append(dst, text...), digitsOnly(text) && identifier.ValidCNPJ(text)
	case cardForm:
		return append(dst, text...), digitsOnly(text) && record.IsCard(text)
	case dateForm:
		return dst, digitsOnly(text) && record.Year(text) > 0
	case phoneForm:
		return fixedPhone(dst, text)
	}
	return dst, false
}

// fixedPhone reads a phone with zeros, blanks or the country code before it.
func fixedPhone(dst, text []byte) ([]byte, bool) {
	for len(text) > 0 && (text[0] == ' ' || text[0] == '0') {
		text = text[1:]
	}
	for len(text) > 0 && text[len(text)-1] == ' ' {
		text = text[:len(text)-1]
	}
	if record.Brazilian(text) {
		text = text[2:]
	}
	return identifier.AppendBrazilianPhone(dst, text)
}

// blank says whether a place is left empty in a row: blanks, or the same character all over.
func blank(text []byte) bool {
	for _, c := range text {
		if c != text[0] {
			return false
		}
	}
	return true
}

// infer finds the columns of the rows.
func (f *fixedRows) infer() bool {
	f.columns, f.stops = f.columns[:0], f.stops[:0]
	rows := f.rows[:0]
	for _, r := range f.rows {
		if len(r.text) == f.width {
			rows = append(rows, r)
		}
	}
	f.rows = rows
	used := make([]bool, f.width)
	for _, form := range [...]fixedForm{cpfForm, dottedForm, cnpjForm, cardForm} {
		f.find(form, rows, used)
	}
	if len(f.columns) > 0 { // the rest is asked of rows with a person in them
		rows = f.withValues()
	}
	f.find(dateForm, rows, used)
	f.phones(rows, used)
	f.stops = slices.DeleteFunc(f.stops, func(at int) bool { return at >= f.width || digitColumn(rows, at) })
	return slices.ContainsFunc(f.columns, func(c fixedColumn) bool { return c.form != dateForm })
}

// withValues are the rows that have a value in one of the columns.
func (f *fixedRows) withValues() (rows []fixedRow) {
	var room [margin]byte
	for _, r := range f.rows {
		if slices.ContainsFunc(f.columns, func(c fixedColumn) bool { _, ok := c.value(room[:0], r.text); return ok }) {
			rows = append(rows, r)
		}
	}
	return rows
}

// find adds the columns of a form, which its check digits or its digits tell, where nothing else was found.
func (f *fixedRows) find(form fixedForm, rows []fixedRow, used []bool) {
	width := [...]int{cpfForm: 11, dottedForm: 14, cnpjForm: 14, cardForm: 16, dateForm: 8}[form]
	for at := 0; at+width <= f.width; at++ {
		if slices.Contains(used[at:at+width], true) {
			continue
		}
		c := fixedColumn{form: form, at: at, width: width}
		if c.holds(rows) {
			f.columns = append(f.columns, c)
			for k := at; k < at+width; k++ {
				used[k] = true
			}
			f.stops = append(f.stops, at+width)
			at += width - 1
		}
	}
}

// holds says whether what stands in the place of the column in many rows is what it is to be.
func (c *fixedColumn) holds(rows []fixedRow) bool {
	var room [margin]byte
	const enough = 24 // rows without anything right
	n, right, different := 0, 0, 0
	var seen [4][]byte
	for i := range rows {
		text := rows[i].text[c.at : c.at+c.width]
		if !isDigit(text[c.width-1]) || blank(text) {
			continue
		}
		if n++; n > enough && right == 0 {
			return false
		}
		if _, ok := c.form.read(room[:0], text); ok {
			right++
			if different < len(seen) && !slices.ContainsFunc(seen[:different], func(b []byte) bool { return string(b) == string(text) }) {
				seen[different] = text
				different++
			}
		}
	}
	least := fewestRows
	if c.form == cardForm {
		least = len(seen) // one digit in ten is the right one by chance
	}
	switch {
	case different < least || right*5 < 2*n:
		return false
	case right*10 >= 7*n:
		c.births = c.form == dateForm && c.ofBirths(rows)
		return true
	}
	return c.form != dateForm && c.typed(rows, right)
}

// ofBirths says whether the dates are those of births: a third of them are so old that they are hardly of anything else.
func (c *fixedColumn) ofBirths(rows []fixedRow) bool {
	n, old := 0, 0
	for i := range rows {
		if year := record.Year(rows[i].text[c.at : c.at+c.width]); year > 0 {
			n++
			if record.LongAgo(year) {
				old++
			}
		}
	}
	return old*3 >= n
}

// typed finds the character that tells the rows with the column, in which right are right, from others.
func (c *fixedColumn) typed(rows []fixedRow, right int) bool {
	var room [margin]byte
	for at := range rows[0].text {
		if at >= c.at && at < c.at+c.width {
			continue
		}
		var all, good [256]int
		for i := range rows {
			text := rows[i].text
			if window := text[c.at : c.at+c.width]; !isDigit(window[c.width-1]) || blank(window) {
				continue
			} else if _, ok := c.form.read(room[:0], window); ok {
				good[text[at]]++
			}
			all[text[at]]++
		}
		c.types = c.types[:0]
		covered := 0
		for v, n := range good {
			if n >= fewestRows && n*10 >= 7*all[v] {
				c.types = append(c.types, byte(v))
				covered += n
			}
		}
		if covered*10 >= right*9 {
			c.typeAt = at
			return true
		}
	}
	return false
}

// phones adds columns of phones. These have no check digits: such a column has the place between two others, or between
// letters, for itself.
func (f *fixedRows) phones(rows []fixedRow, used []bool) {
	for at := 0; at < f.width; at++ {
		end := at
		for end < f.width && !used[end] && digitColumn(rows, end) {
			end++
		}
		if end-at < 6 {
			continue
		}
		f.stops = append(f.stops, end)
		if c := phoneBetween(rows, at, end); c.width > 0 {
			f.columns = append(f.columns, c)
			f.stops = append(f.stops, c.at+c.width)
		}
		at = end
	}
}

// digitColumn says whether nearly all rows have a digit, or else a blank, in a place.
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

// phoneBetween finds the phones among the digits in [at, end): all of them, or those at either end.
func phoneBetween(rows []fixedRow, at, end int) (c fixedColumn) {
	const mobile = 11
	if width := end - at; width >= mobile-1 && width <= 15 {
		if c = (fixedColumn{form: phoneForm, at: at, width: width}); c.dialled(rows, false) {
			return c
		}
	}
	if end-at <= mobile {
		return fixedColumn{}
	}
	for _, from := range [...]int{at, end - mobile} {
		if c = (fixedColumn{form: phoneForm, at: from, width: mobile}); c.dialled(rows, true) {
			return c
		}
	}
	return fixedColumn{}
}

// dialled says whether nearly all of what stands in the column are phones: many, and not one after another, as numbers of
// things are. Within more digits they must be mobiles of several areas.
func (c *fixedColumn) dialled(rows []fixedRow, within bool) bool {
	const many = 8
	var room [margin]byte
	n, right, mobiles, times := 0, 0, 0, 0
	areas, exchanges := map[string]bool{}, map[string]bool{}
	for i := range rows {
		text := rows[i].text[c.at : c.at+c.width]
		if blank(text) {
			continue
		}
		n++
		normal, ok := fixedPhone(room[:0], text)
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
	case mobiles*2 >= right:
		return true
	}
	return right >= many && times*2 < right
}
