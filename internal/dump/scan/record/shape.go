package record

import (
	"bytes"
	"strings"
)

// foldShort returns a short value in lower case.
func foldShort(v []byte) string { return string([]byte{lowered(v[0]), lowered(v[1]), lowered(v[2])}) }

// lowered returns an ASCII letter in lower case, and any other byte as it is.
func lowered(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// The kinds of characters in a value.
const (
	hasLetter uint8 = 1 << iota
	hasDigit
	hasSpace
	hasMark
	hasUpper
	hasHigh
)

// kindOf sorts bytes for the shape of a value.
var kindOf = func() (t [256]uint8) {
	for c := range 256 {
		switch {
		case c >= 'a' && c <= 'z':
			t[c] = hasLetter
		case c >= 'A' && c <= 'Z':
			t[c] = hasLetter | hasUpper
		case c >= '0' && c <= '9':
			t[c] = hasDigit
		case c == ' ':
			t[c] = hasSpace
		case c >= 0x80:
			t[c] = hasLetter | hasHigh
		default:
			t[c] = hasMark
		}
	}
	return t
}()

// byteSet is the bytes of some kinds and others.
func byteSet(kinds uint8, others string) (t [256]bool) {
	for c := range t {
		t[c] = kindOf[c]&kinds != 0 || strings.IndexByte(others, byte(c)) >= 0
	}
	return t
}

// characterKinds tells which kinds of characters a value has.
func characterKinds(v []byte) (k uint8) {
	for len(v) >= 4 {
		k |= kindOf[v[0]] | kindOf[v[1]] | kindOf[v[2]] | kindOf[v[3]]
		v = v[4:]
	}
	for _, c := range v {
		k |= kindOf[c]
	}
	return k
}

// postalCode knows a Brazilian one, 01310-100.
func postalCode(v []byte) bool {
	return len(v) == 9 && v[5] == '-' && allDigits(v[:5]) && allDigits(v[6:]) && string(v) != "00000-000"
}

// allDigits reports whether v consists of digits; false for an empty v.
func allDigits(v []byte) bool {
	for _, c := range v {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(v) > 0
}

// ipAddress knows an IP address, v4 or v6.
func ipAddress(v []byte) bool {
	if len(v) < 3 || len(v) > 45 || v[0] != ':' && (v[0] < '0' || v[0] > '9') && (v[0]|0x20 < 'a' || v[0]|0x20 > 'f') {
		return false
	}
	if bytes.IndexByte(v, ':') >= 0 {
		for _, c := range v {
			if c != ':' && c != '.' && !(c >= '0' && c <= '9') && !(c|0x20 >= 'a' && c|0x20 <= 'f') {
				return false
			}
		}
		return bytes.Count(v, []byte(":")) >= 2
	}
	groups, n, digits := 0, 0, 0
	for _, c := range v {
		switch {
		case c >= '0' && c <= '9':
			if n, digits = n*10+int(c-'0'), digits+1; digits > 3 || n > 255 {
				return false
			}
		case c == '.' && digits > 0:
			groups, n, digits = groups+1, 0, 0
		default:
			return false
		}
	}
	return groups == 3 && digits > 0 && string(v) != "0.0.0.0"
}

// shortestShape is how long a value must be for its shape to say something.
const shortestShape = 8

// classesOfShape returns what a headerless value shows by its shape alone.
func classesOfShape(v []byte) Classes {
	switch n := len(v); {
	case strongHash(v): // digits alone may be a token of any kind
		return PasswordHash
	case n == 9 && postalCode(v):
		return Address
	case n <= 19 && n != 8:
		if y := ParseYear(v); y >= oldestAlive && y < recordsBegin {
			return BirthDate
		}
	}
	return 0
}
