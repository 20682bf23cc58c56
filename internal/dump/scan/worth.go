package scan

import (
	"bytes"
	"unicode/utf8"
)

// worthDecoding looks closer at the sign at b[i], so that plain text, which has many of them, is not decoded for
// nothing. It sees a few bytes around it.
func worthDecoding(b []byte, i int) bool {
	if i == 0 || i+2 >= len(b) {
		return false
	}
	before, after := b[i-1], b[i+1:]
	switch b[i] {
	case '\\':
		return (after[0]|0x20 == 'u' || after[0]|0x20 == 'x') && worthBackslash(after)
	case '&':
		if after[0] != '#' && after[0] != 'c' && after[0] != 'a' {
			return false
		}
		c, n := entity(b[i:min(len(b), i+16)])
		_, plain := plainRune(c)
		return n > 0 && plain
	case '%':
		return worthPercent(after)
	case 0xe2, 0xef:
		return worthRune(b, i, 3)
	case 0xa0:
		return before == 0xc2 && i > 1 && worthRune(b, i-1, 2)
	case '[', '(', '{':
		_, end := bracketed(b, i)
		return end > 0
	case '@':
		return worthAt(b, i)
	}
	return false
}

// worthAt reports whether something that does not belong there stands beside an '@', or in the address: a tag, a blank,
// the other halves of wide characters.
func worthAt(b []byte, i int) bool {
	if b[i-1] == '>' || b[i+1] == '<' || b[i+1] == 0 && b[i+2] != 0 || isOpening(b[i-1]) && isClosing(b[i+1]) {
		return true
	}
	if b[i-1] == ' ' {
		return i > 1 && class[b[i-2]]&inLocal != 0 && b[i+1] == ' ' && class[b[i+2]]&(letter|digit) != 0
	}
	end := i + 1
	for end < len(b) && end-i < labelLongest && class[b[end]]&inDomain != 0 {
		end++
	}
	if isBreak(b[end:min(len(b), end+6)]) || bytes.HasPrefix(b[end:], softHyphen) {
		return true
	}
	start := i
	for start > 0 && i-start < localLongest && class[b[start-1]]&inLocal != 0 {
		start--
	}
	return start > 4 && b[start-1] == '>' && isBreak(b[max(0, start-6):start]) || bytes.HasSuffix(b[:start], softHyphen)
}

// isOpening reports whether c opens a bracket or quote.
func isOpening(c byte) bool { return c == '[' || c == '(' || c == '{' }

// isClosing reports whether c closes a bracket or quote.
func isClosing(c byte) bool { return c == ']' || c == ')' || c == '}' }

// softHyphen is invisible inside of words of web pages, and dropped.
var softHyphen = []byte("\u00ad")

// worthPair looks closer at the pair at b[i].
func worthPair(b []byte, i int) bool {
	if i == 0 || i+2 >= len(b) {
		return false
	}
	before, after := b[i-1], b[i+1:]
	switch b[i] {
	case '2':
		return after[0]|0x20 == 'e' && hasHexDot(b, i)
	case 'Q':
		return (after[0] == 'G' || after[0] == 'H') && hasBase64At(b, i-4, 3)
	case 'E', 'U', 'k', '0':
		return after[0] == 'B' && hasBase64At(b, i-5, 4)
	case 'A':
		return hasBase64At(b, i-3, 2)
	case '=':
		if after[0] == '?' {
			return class[after[1]]&letter != 0
		}
		c, ok := hexRune(after, 0, 2)
		return ok && c < 0x7f && after[1] < 'a' && bytes.IndexByte([]byte("@.-_+"), byte(c)) >= 0 &&
			class[before]&inLocal != 0 &&
			len(after) > 2 &&
			class[after[2]]&inLocal != 0 &&
			(c != '@' || isDottedName(after[2:]))
	}
	return false
}

// isDottedName reports whether b begins with a name that has a dot in it.
func isDottedName(b []byte) bool {
	for _, c := range b[:min(len(b), labelLongest)] {
		if class[c]&(dot|inDomain) != inDomain {
			return c == '.'
		}
	}
	return false
}

// worthBackslash judges what stands behind a backslash. A letter or digit that is escaped alone is more often a
// password than part of an address; where whole texts are escaped, another escape follows.
func worthBackslash(after []byte) bool {
	digits := 2
	if after[0]|0x20 == 'u' {
		digits = 4
	}
	c, ok := hexRune(after, 1, digits)
	if _, known := plainRune(c); !ok || !known {
		return false
	}
	alone := len(after) <= 1+digits || after[1+digits] != '\\'
	return !alone || c >= 0x7f || bytes.IndexByte([]byte("@.-_+"), byte(c)) >= 0
}

// worthPercent leaves out what addresses of pages are full of: only signs that stand in addresses, and percent signs
// that were themselves encoded, need decoding.
func worthPercent(after []byte) bool {
	c, ok := hexRune(after, 0, 2)
	switch {
	case after[0] == 'u':
		c, ok = hexRune(after, 1, 4)
		_, plain := plainRune(c)
		return ok && plain
	case !ok:
		return false
	case c == '%':
		_, ok = hexRune(after, 2, 2)
		return ok
	}
	return c == '+' || c == '.' || c == '-' || c == '_' ||
		c < 0x7f && inGap[byte(c)] && len(after) > 2 && (isDigit(after[2]) || after[2] == '+')
}

// worthRune judges the character of n bytes at b[i]. Dashes and blanks count between digits only: texts are full of
// them.
func worthRune(b []byte, i, n int) bool {
	if i+n >= len(b) || i == 0 {
		return false
	}
	c, size := utf8.DecodeRune(b[i : i+n])
	plain, ok := plainRune(c)
	if !ok || size != n {
		return false
	}
	if plain == ' ' || plain == '-' {
		return (isDigit(b[i-1]) || b[i-1] == ')') && (isDigit(b[i+n]) || b[i+n] == '(')
	}
	return true
}

// hasBase64At reports whether the eight characters of base64 at b[i:] are text whose byte n is an '@'.
func hasBase64At(b []byte, i, n int) bool {
	if i < 0 || i+8 > len(b) {
		return false
	}
	var text [6]byte
	for k := 0; k < 8; k += 4 {
		q := uint32(0)
		for _, c := range b[i+k : i+k+4] {
			six := baseValue[c]
			if six > 63 {
				return false
			}
			q = q<<6 | uint32(six)
		}
		text[k/4*3], text[k/4*3+1], text[k/4*3+2] = byte(q>>16), byte(q>>8), byte(q)
	}
	return text[n] == '@' && printable(text[:])
}

// baseValue is what a character of base64 stands for, in either alphabet; 64 is none.
var baseValue = func() (t [256]byte) {
	for c := range t {
		t[c] = 64
	}
	for i, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		t[c] = byte(i)
	}
	t['-'], t['_'] = 62, 63
	return t
}()

// hasHexDot reports whether the hexadecimal digits around those of a dot at b[i] stand for letters or digits.
func hasHexDot(b []byte, i int) bool {
	if i < 6 || i+8 > len(b) {
		return false
	}
	for _, at := range [...]int{i - 6, i - 4, i - 2, i + 2, i + 4, i + 6} {
		c, ok := hexRune(b, at, 2)
		if !ok || c > 0x7f || class[byte(c)]&inLocal == 0 && c != '@' {
			return false
		}
	}
	return true
}
