package container

import "strings"

// sqliteColumns reads the names of columns from the statement that made a table. What it does not understand it leaves
// out: names only help to tell what numbers are.
func sqliteColumns(sql string) sqliteTable {
	t := sqliteTable{rowid: -1}
	open := strings.IndexByte(sql, '(')
	if open < 0 || len(sql) > 1<<16 {
		return t
	}
	for _, part := range topLevel(sql[open+1:]) {
		name, rest := takeSQLWord(part)
		switch strings.ToUpper(name) {
		case "PRIMARY", "UNIQUE", "CHECK", "FOREIGN", "CONSTRAINT", "":
			if part = strings.TrimSpace(part); part == "" || !strings.ContainsAny(part[:1], "\"[`") {
				continue
			}
		}
		upper := strings.ToUpper(strings.TrimSpace(rest))
		if strings.HasPrefix(upper, "INTEGER") && strings.Contains(upper, "PRIMARY KEY") {
			t.rowid = len(t.columns)
		}
		t.columns = append(t.columns, name)
	}
	return t
}

// topLevel cuts a list at its commas, up to the parenthesis that ends it.
func topLevel(s string) (parts []string) {
	depth, from := 0, 0
	var quote byte
	for i := range len(s) {
		c := s[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"' || c == '`':
			quote = c
		case c == '[':
			quote = ']'
		case c == '(':
			depth++
		case c == ')' && depth == 0:
			return append(parts, s[from:i])
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			parts = append(parts, s[from:i])
			from = i + 1
		}
	}
	return append(parts, s[from:])
}

// takeSQLWord takes the first word of a text, out of its quotes.
func takeSQLWord(s string) (word, rest string) {
	s = strings.TrimSpace(s)
	if s == "" {
		return "", ""
	}
	end := s[:1]
	switch s[0] {
	case '[':
		end = "]"
	case '"', '\'', '`':
	default:
		if i := strings.IndexAny(s, " \t\r\n("); i >= 0 {
			return s[:i], s[i:]
		}
		return s, ""
	}
	if i := strings.Index(s[1:], end); i >= 0 {
		return s[1:][:i], s[i+2:]
	}
	return s, ""
}
