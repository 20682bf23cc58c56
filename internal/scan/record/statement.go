package record

import "bytes"

// statement is the last beginning of an INSERT that was read, as most are the same line after line.
type statement struct {
	text   []byte
	layout *layout
	table  string
}

// readInsert reads INSERT INTO t (a, b) VALUES at the start of text, which may go on, and returns where the first tuple may
// begin, or 0.
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
	table, at = tableName(text, at)
	if at == 0 {
		return nil, "", 0
	}
	l = &layout{Form: tuples}
	if at < len(text) && text[at] == '(' {
		if l.Columns, at = r.columnList(text, at); at == 0 {
			return nil, "", 0
		}
	}
	at = keyword(text, at, "values")
	if at == 0 {
		return nil, "", 0
	}
	r.last = statement{append(r.last.text[:0], text[:at]...), l, table}
	return l, table, at
}

// copyFrom reads COPY t (a, b) FROM stdin; at the start of a line.
func (r *Reader) copyFrom(text []byte) (*layout, string) {
	at := keyword(text, 0, "copy")
	if at == 0 {
		return nil, ""
	}
	table, at := tableName(text, at)
	if at == 0 {
		return nil, ""
	}
	l := &layout{Form: copied, Sep: '\t'}
	if at < len(text) && text[at] == '(' {
		if l.Columns, at = r.columnList(text, at); at == 0 {
			return nil, ""
		}
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
	depth, begins := 0, true
	for ; at < len(text); at++ {
		switch c := text[at]; {
		case c == '(':
			depth++
			if depth > 1 {
				continue
			}
			begins = true
			continue
		case c == ')':
			if depth--; depth == 0 {
				return l, table
			}
		case c == ',' && depth == 1:
			begins = true
			continue
		}
		if depth == 1 && begins && !isSpace(text[at]) {
			begins = false
			name, end := identifierAt(text, at)
			if !constraint(name) && end > at {
				l.Columns = append(l.Columns, r.columnOf(name))
				at = end - 1
			}
		}
	}
	return nil, ""
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
	for at < len(text) && isSpace(text[at]) {
		at++
	}
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

// isSpace reports whether c is a blank.
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
	for at < len(text) && isSpace(text[at]) {
		at++
	}
	name, end := identifierAt(text, at)
	for end < len(text) && text[end] == '.' {
		name, end = identifierAt(text, end+1)
	}
	if len(name) == 0 {
		return "", 0
	}
	for end < len(text) && isSpace(text[end]) {
		end++
	}
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
