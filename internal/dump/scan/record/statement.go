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

// inTuple reads the SQL tuple with hit k in it, in line i or, where lines are too long to be one, wherever it begins.
// It returns how many hits it handed out.
func (r *Reader) inTuple(i, k int) int {
	l, at := &r.lines[i], int(r.hits[k].from)
	if r.tuple > 0 && r.tuple <= at && at-r.tuple < Longest { // where the last one ended
		if n := r.tupleFrom(i, k, r.tuple); n > 0 {
			return n
		}
	}
	low := max(0, at-Longest)
	if l.long {
		low = min(at, max(low, r.barren))
	} else {
		low = int(l.from)
		if n := r.tupleFrom(i, k, r.firstTuple(low, at)); n > 0 {
			return n
		}
	}
	for end, tries := at, 0; tries < 3; tries++ {
		next := between(r.b[low:end])
		if next < 0 {
			if tries == 0 {
				r.barren = max(r.barren, at)
			}
			return 0
		}
		if n := r.tupleFrom(i, k, low+next); n > 0 {
			return n
		}
		end = low + next
	}
	return 0
}

// firstTuple returns where the tuples of a line that begins at b[from] begin.
func (r *Reader) firstTuple(from, to int) int {
	if r.b[from] != '(' {
		if _, _, end := r.readInsert(r.b[from:min(len(r.b), from+statementLongest)]); end > 0 {
			from += end
		} else if next := keyword(r.b[from:to], 0, "values"); next > 0 {
			from += next
		}
	}
	return skipSpace(r.b[:to], from)
}

// mostTuples is how many tuples are passed on the way to the one that is wanted.
const mostTuples = 64

// tupleFrom goes from the tuple at b[from] to the one with hit k in it, and hands out its hits.
func (r *Reader) tupleFrom(i, k, from int) int {
	at := int(r.hits[k].from)
	for range mostTuples {
		end := r.splitTuple(from)
		if end > at {
			return r.judgeTuple(i, k, from, end)
		}
		if end < 0 {
			return 0
		}
		if from = nextTuple(r.b, end); from < 0 {
			return 0
		}
	}
	return 0
}

// between finds the last place where one tuple ends and another begins, and returns where the latter does, or -1.
func between(b []byte) int {
	for end := len(b); end > 0; {
		n := bytes.LastIndexByte(b[:end], '(')
		if n < 0 {
			return -1
		}
		k := n - 1
		for k > 0 && isSpace(b[k]) {
			k--
		}
		endsTuple := k > 0 && b[k] == ',' && closesTuple(b[:k])
		endsValues := k >= 5 && bytes.EqualFold(b[k-5:k+1], []byte("values"))
		if endsTuple || endsValues {
			return n
		}
		end = n
	}
	return -1
}

// closesTuple reports whether a text ends a tuple.
func closesTuple(b []byte) bool {
	for k := len(b) - 1; k >= 0; k-- {
		if !isSpace(b[k]) {
			return b[k] == ')'
		}
	}
	return false
}

// nextTuple returns where the tuple after one that ends before b[end] begins, or -1.
func nextTuple(b []byte, end int) int {
	for end < len(b) && (isSpace(b[end]) || b[end] == ',') {
		end++
	}
	if end < len(b) && b[end] == '(' {
		return end
	}
	return -1
}

// splitTuple cuts the tuple at b[at] into fields and returns its end, or -1 if it is none.
func (r *Reader) splitTuple(at int) int {
	b := r.b[:min(len(r.b), at+Longest)]
	if at >= len(b) || b[at] != '(' {
		return -1
	}
	r.fields = r.fields[:0]
	for at++; at < len(b); {
		at = skipSpace(b, at)
		from, end := at, 0
		if at < len(b) &&
			(b[at] == '\'' || b[at] == '"' || (b[at] == 'N' || b[at] == 'E') && at+1 < len(b) && b[at+1] == '\'') {
			if b[at] == 'N' || b[at] == 'E' {
				at++
			}
			end = r.marks.closing(at, len(b), true)
			if end < 0 {
				return -1
			}
			from, at = at+1, end+1
		} else {
			if at = r.bareEnd(b, at); at < 0 {
				return -1
			}
			end = at
		}
		r.fields = append(r.fields, field{from, end, backslash})
		at = skipSpace(b, at)
		if at >= len(b) {
			return -1
		}
		switch b[at] {
		case ',':
			at++
		case ')':
			if at++; at < len(b) && b[at] != ',' && b[at] != ';' && !isSpace(b[at]) {
				return -1
			}
			return at
		default:
			return -1
		}
	}
	return -1
}

// bareEnd finds where a value without quotes ends, which may be a call, or -1.
func (r *Reader) bareEnd(b []byte, at int) int {
	for depth := 0; at < len(b) && (depth > 0 || b[at] != ',' && b[at] != ')'); at++ {
		switch b[at] {
		case '(':
			if depth++; depth > 2 {
				return -1
			}
		case ')':
			depth--
		case '\'':
			if at = r.marks.closing(at, len(b), true); at < 0 {
				return -1
			}
		case ';', '{', '@':
			return -1
		case '\n':
			return at
		}
	}
	return at
}

// judgeTuple hands out the hits of the tuple b[from:to], which begins with or before hit k.
func (r *Reader) judgeTuple(i, k, from, to int) int {
	first, end := r.hitsWithin(k, from, to)
	hits := r.hits[first:end]
	columns := r.tupleColumns(i)
	switch {
	case len(r.fields) < 2:
		return 0
	case columns == nil:
		r.locateFields(hits)
		if !r.anyWhole(hits) {
			return 0
		}
		r.judgeFields(hits, nil)
	case len(columns) != len(r.fields) || !r.fitsColumns(hits, columns):
		r.locateFields(hits)
		if r.places[k-first] < 0 {
			return 0
		}
		r.onlyHits(hits)
	default:
		r.judgeFields(hits, columns)
	}
	if r.tuple = nextTuple(r.b, to); r.tuple < 0 {
		r.tuple = 0
	}
	return end - k
}

// tupleColumns returns the columns of the statement that line i begins or goes on.
func (r *Reader) tupleColumns(i int) []column {
	if l := &r.lines[i]; !l.long && r.b[l.from] != '(' {
		if in, table, end := r.readInsert(r.b[l.from:min(len(r.b), int(l.from)+statementLongest)]); end > 0 {
			if in.Columns != nil {
				return in.Columns
			}
			return r.inForce().Tables[table]
		}
	}
	if in := r.inForce().Layout; in != nil && in.Form == tuples {
		return in.Columns
	}
	return nil
}

// hitsWithin returns the hits in b[from:to], of which hit k is one.
func (r *Reader) hitsWithin(k, from, to int) (first, end int) {
	for first = k; first > 0 && int(r.hits[first-1].from) >= from; first-- {
	}
	for end = k; end < len(r.hits) && int(r.hits[end].from) < to; end++ {
	}
	return first, end
}
