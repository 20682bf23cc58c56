package scan

import (
	"bytes"
	"unicode/utf8"
)

// character puts what b[from:to] stands for. What has no width is left out.
func (v *view) character(c rune, from, to int) int {
	if plain, ok := plainRune(c); ok {
		if plain == 0 {
			return v.putDecoded(from, to)
		}
		return v.putDecoded(from, to, plain)
	}
	var room [utf8.UTFMax]byte
	return v.putDecoded(from, to, utf8.AppendRune(room[:0], c)...)
}

// plainRune returns the character that another stands for in an address or a number; 0 stands for nothing at all.
func plainRune(c rune) (plain byte, ok bool) {
	switch {
	case c == 0xad || c >= 0x200b && c <= 0x200f || c >= 0x202a && c <= 0x202e || c >= 0x2060 && c <= 0x206f ||
		c == 0xfeff:
		return 0, true
	case c == 0xa0 || c >= 0x2000 && c <= 0x200a || c == 0x202f || c == 0x3000:
		return ' ', true
	case c >= 0x2010 && c <= 0x2015 || c == 0x2212:
		return '-', true
	case c >= 0xff01 && c <= 0xff5e:
		return byte(c - 0xfee0), true
	case c < utf8.RuneSelf && (c >= ' ' || c == '\n' || c == '\t' || c == '\r'):
		return byte(c), true
	}
	return 0, false
}

// backslash reads \u0040, \x40 and a longer row of hexadecimal digits after \x, the backslash once or twice.
func (v *view) backslash(b []byte, i int, room *[]byte) int {
	at := i + 1
	if at < len(b) && b[at] == '\\' {
		at++
	}
	if at >= len(b) {
		return 0
	}
	switch b[at] | 0x20 {
	case 'u':
		if c, ok := hexRune(b, at+1, 4); ok {
			return v.character(c, i, at+5)
		}
	case 'x':
		end := at + 1
		for end < len(b) && isHexDigit(b[end]) {
			end++
		}
		if text := hexText(room, b[at+1:end]); text != nil {
			return v.putDecoded(i, end, text...)
		}
		if c, ok := hexRune(b, at+1, 2); ok && c >= ' ' && c < 0x7f {
			return v.putDecoded(i, at+3, byte(c))
		}
	}
	return 0
}

// hexRune reads n hexadecimal digits.
func hexRune(b []byte, at, n int) (c rune, ok bool) {
	if at+n > len(b) {
		return 0, false
	}
	for _, d := range b[at : at+n] {
		if !isHexDigit(d) {
			return 0, false
		}
		c = c<<4 | rune(HexDigitValue(d))
	}
	return c, true
}

// entity reads a character of HTML, by number or name, and returns how long it is. The ampersand may be one itself.
func entity(b []byte) (c rune, n int) {
	at := 1
	if bytes.HasPrefix(b, []byte("&amp;")) {
		at = 5
	}
	b = b[:min(len(b), at+12)]
	end := bytes.IndexByte(b, ';')
	if at == 5 {
		if end = bytes.IndexByte(b[at:], ';'); end >= 0 {
			end += at
		}
	}
	if end <= at {
		return 0, 0
	}
	name := b[at:end]
	if name[0] != '#' {
		c = entities[string(name)]
		if c == 0 {
			return 0, 0
		}
		return c, end + 1
	}
	base, digits := rune(10), name[1:]
	if len(digits) > 0 && digits[0]|0x20 == 'x' {
		base, digits = 16, digits[1:]
	}
	if len(digits) == 0 {
		return 0, 0
	}
	for _, d := range digits {
		if !isDigit(d) && (base == 10 || !isHexDigit(d)) || c > utf8.MaxRune {
			return 0, 0
		}
		c = c*base + rune(HexDigitValue(d))
	}
	return c, end + 1
}

// entities are the named characters of HTML that stand inside of addresses and numbers.
var entities = map[string]rune{
	"commat": '@',
	"period": '.',
	"lowbar": '_',
	"plus":   '+',
	"hyphen": '-',
	"dash":   '-',
	"ndash":  '-',
	"mdash":  '-',
	"nbsp":   ' ',
	"shy":    0xad,
	"zwj":    0x200d,
	"zwnj":   0x200c,
	"lpar":   '(',
	"rpar":   ')',
	"num":    '#',
	"sol":    '/',
	"colon":  ':',
	"ensp":   ' ',
	"emsp":   ' ',
	"thinsp": ' ',
}

// percent reads %40, also where its percent sign was written like that itself, and %u0040.
func percent(b []byte) (c rune, n int) {
	for n = 1; ; n += 2 {
		if n < len(b) && b[n] == 'u' {
			c, ok := hexRune(b, n+1, 4)
			if !ok {
				return 0, 0
			}
			return c, n + 5
		}
		c, ok := hexRune(b, n, 2)
		if !ok || c >= 0x7f || c < ' ' && c != '\n' && c != '\t' && c != '\r' {
			return 0, 0
		}
		if _, more := hexRune(b, n+2, 2); c != '%' || !more || n > 8 {
			return c, n + 2
		}
	}
}
