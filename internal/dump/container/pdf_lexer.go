package container

import "bytes"

// pdfToken is the kind of a token in a content stream.
type pdfToken uint8

const (
	pdfEnd pdfToken = iota
	pdfWord
	pdfName
	pdfString
	pdfNumberToken
)

// pdfLexer cuts a content into what PDF is written in.
type pdfLexer struct {
	b  []byte
	at int
}

func (l *pdfLexer) nextToken() ([]byte, pdfToken) {
	for l.at < len(l.b) {
		c := l.b[l.at]
		switch {
		case c == '%':
			for l.at < len(l.b) && l.b[l.at] != '\n' && l.b[l.at] != '\r' {
				l.at++
			}
		case c == '(':
			return l.readLiteral(), pdfString
		case bytes.HasPrefix(l.b[l.at:], []byte("<<")):
			l.at += 2
		case c == '<':
			return l.readHexString(), pdfString
		case c == '/':
			l.at++
			return l.readWord(), pdfName
		case pdfDelimiter(c):
			l.at++
		default:
			w := l.readWord()
			if len(w) == 0 {
				l.at++
				continue
			}
			if w[0] >= '0' && w[0] <= '9' || w[0] == '-' || w[0] == '.' || w[0] == '+' {
				return w, pdfNumberToken
			}
			return w, pdfWord
		}
	}
	return nil, pdfEnd
}

// pdfDelimiter reports whether c ends a number, a name or an operator.
func pdfDelimiter(c byte) bool {
	return c <= ' ' || c == '<' || c == '>' || c == '[' || c == ']' || c == '{' || c == '}' || c == ')'
}

// readWord reads a word up to a delimiter.
func (l *pdfLexer) readWord() []byte {
	from := l.at
	for l.at < len(l.b) && !pdfDelimiter(l.b[l.at]) && l.b[l.at] != '/' && l.b[l.at] != '(' && l.b[l.at] != '%' {
		l.at++
	}
	return l.b[from:l.at]
}

// readLiteral reads (text), with its escapes and inner parentheses.
func (l *pdfLexer) readLiteral() (s []byte) {
	depth := 0
	for l.at < len(l.b) {
		c := l.b[l.at]
		l.at++
		switch {
		case c == '(':
			if depth++; depth == 1 {
				continue
			}
		case c == ')':
			if depth--; depth == 0 {
				return s
			}
		case c == '\\' && l.at < len(l.b):
			s = l.readEscape(s)
			continue
		}
		s = append(s, c)
	}
	return s
}

// readEscape reads what follows a backslash.
func (l *pdfLexer) readEscape(s []byte) []byte {
	c := l.b[l.at]
	l.at++
	switch {
	case c == 'n' || c == 'r' || c == 't' || c == 'b' || c == 'f':
		return append(s, ' ')
	case c == '\r' || c == '\n':
		return s
	case c >= '0' && c <= '7':
		v := int(c - '0')
		for range 2 {
			if l.at < len(l.b) && l.b[l.at] >= '0' && l.b[l.at] <= '7' {
				v = v<<3 | int(l.b[l.at]-'0')
				l.at++
			}
		}
		return append(s, byte(v))
	}
	return append(s, c)
}

// readHexString reads <hexadecimal digits>.
func (l *pdfLexer) readHexString() (s []byte) {
	text := l.b[l.at+1:]
	if end := bytes.IndexByte(text, '>'); end >= 0 {
		text = text[:end+1]
	}
	l.at += 1 + len(text)
	return decodeHex(text)
}
