package record

import "bytes"

// statement is the last beginning of an INSERT that was read, as most are the same line after line.
type statement struct {
	text   []byte
	layout *layout
	table  string
}

// readInsert reads INSERT INTO t (a, b) VALUES at the start of text, which may go on, and returns where the first tuple
// may begin, or 0.
func (r *Reader) readInsert(text []byte) (l *layout, table string, end int) {
	if n := len(r.last.text); n > 0 && len(text) > n && bytes.Equal(text[:n], r.last.text) {
		return r.last.layout, r.last.table, n
	}
	at := keyword(text, 0, "insert")
	if at == 0 {
		at = keyword(text, 0, "replace")
	}
	if at == 0 {
		return nil, "", 0
	}
	for _, w := range [...]string{"ignore", "low_priority", "delayed", "into"} {
		if next := keyword(text, at, w); next > 0 {
			at = next
		}
	}
	l = &layout{Form: tuples}
	if table, at = r.tableAndColumns(text, at, l); at == 0 {
		return nil, "", 0
	}
	if at = keyword(text, at, "values"); at == 0 {
		return nil, "", 0
	}
	r.last = statement{append(r.last.text[:0], text[:at]...), l, table}
	return l, table, at
}

// tableAndColumns reads the name of a table and, if there is one, its list of columns into l. It returns where to go
// on, or 0.
func (r *Reader) tableAndColumns(text []byte, at int, l *layout) (table string, end int) {
	table, at = tableName(text, at)
	if at > 0 && at < len(text) && text[at] == '(' {
		l.Columns, at = r.columnList(text, at)
	}
	return table, at
}

// copyFrom reads COPY t (a, b) FROM stdin; at the start of a line.
func (r *Reader) copyFrom(text []byte) (*layout, string) {
	at := keyword(text, 0, "copy")
	if at == 0 {
		return nil, ""
	}
	l := &layout{Form: copied, Sep: '\t'}
	table, at := r.tableAndColumns(text, at, l)
	if at == 0 {
		return nil, ""
	}
	if at = keyword(text, at, "from"); at == 0 || keyword(text, at, "stdin") == 0 {
		return nil, ""
	}
	return l, table
}

// definition reads CREATE TABLE t ( ... ), a column a line or all in one.
func (r *Reader) definition(text []byte) (*layout, string) {
	at := keyword(text, 0, "create")
	if at = keyword(text, at, "table"); at == 0 {
		return nil, ""
	}
	if next := keyword(text, keyword(text, keyword(text, at, "if"), "not"), "exists"); next > 0 {
		at = next
	}
	table, at := tableName(text, at)
	if at == 0 || at >= len(text) || text[at] != '(' {
		return nil, ""
	}
	l := &layout{Form: tuples}
	isWhole := EachColumn(text[at:], func(name, _ []byte) {
		if !constraint(name) {
			l.Columns = append(l.Columns, r.columnOf(name))
		}
	})
	if !isWhole {
		return nil, ""
	}
	return l, table
}

// EachColumn calls column with what each item of the list of CREATE TABLE begins with, a name unless it is a
// constraint, and with what follows that. list begins with its parenthesis. It reports whether the list comes to its
// end.
func EachColumn(list []byte, column func(name, rest []byte)) bool {
	var name []byte
	depth, begins, after := 0, true, 0
	for at := 0; at < len(list); at++ {
		c := list[at]
		if depth == 1 && (c == ',' || c == ')') {
			if len(name) > 0 {
				column(name, list[after:at])
			}
			name, begins = nil, true
		}
		switch {
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return true
			}
		case c != ',' && depth == 1 && begins && !isSpace(c):
			begins = false
			if name, after = identifierAt(list, at); after > at {
				at = after - 1
			}
		}
	}
	return false
}

// constraint reports whether a word in CREATE TABLE begins a key or a constraint instead of a column.
func constraint(name []byte) bool {
	switch string(bytes.ToLower(name[:min(len(name), 16)])) {
	case "primary", "unique", "key", "constraint", "foreign", "check", "index", "fulltext", "exclude":
		return true
	}
	return false
}

// keyword returns where to go on after a word at text[at:], which only space may stand before, or 0.
func keyword(text []byte, at int, word string) int {
	if at < 0 {
		return 0
	}
	at = skipSpace(text, at)
	if len(text)-at < len(word) {
		return 0
	}
	for i := range len(word) {
		if lowered(text[at+i]) != word[i] {
			return 0
		}
	}
	if at += len(word); at < len(text) && kindOf[text[at]]&(hasLetter|hasDigit) != 0 {
		return 0
	}
	return at
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// identifierAt reads a name of SQL, in quotes or not, and returns it and its end.
func identifierAt(text []byte, at int) ([]byte, int) {
	if at >= len(text) {
		return nil, at
	}
	closing := byte(0)
	switch text[at] {
	case '`', '"':
		closing = text[at]
	case '[':
		closing = ']'
	}
	if closing != 0 {
		if n := bytes.IndexByte(text[at+1:min(len(text), at+1+2*longestName)], closing); n >= 0 {
			return text[at+1 : at+1+n], at + n + 2
		}
		return nil, at
	}
	end := at
	for end < len(text) && (kindOf[text[end]]&(hasLetter|hasDigit) != 0 || text[end] == '_') {
		end++
	}
	return text[at:end], end
}

// tableName reads a.b and returns the digest of its last part and where to go on after the space behind it.
func tableName(text []byte, at int) (string, int) {
	at = skipSpace(text, at)
	name, end := identifierAt(text, at)
	for end < len(text) && text[end] == '.' {
		name, end = identifierAt(text, end+1)
	}
	if len(name) == 0 {
		return "", 0
	}
	end = skipSpace(text, end)
	return string(bytes.ToLower(name)), end
}

// columnList reads (a, `b`, "c") and returns where to go on.
func (r *Reader) columnList(text []byte, at int) (columns []column, end int) {
	columns = []column{}
	for at++; at < len(text) && len(columns) < 1<<10; {
		for at < len(text) && (isSpace(text[at]) || text[at] == ',') {
			at++
		}
		if at < len(text) && text[at] == ')' {
			return columns, at + 1
		}
		name, next := identifierAt(text, at)
		if next == at {
			return nil, 0
		}
		columns, at = append(columns, r.columnOf(name)), next
	}
	return nil, 0
}
