package scan

// The classes of a byte. One table look-up answers every question the extractor asks of a byte.
const (
	inLocal  uint16 = 1 << iota // may stand in the local part of an address as dumps have them
	inDomain                    // may stand in a domain name
	digit                       // 0 to 9
	letter                      // a to z, any case
	hexOnly                     // a to f, any case
	dot
	rare   // needs a closer look next to an address: an escape, a quote, a byte beyond ASCII
	inName // letters, digits and what joins the words of a name
	upper  // A to Z
	hyphen
)

// class is what the finder has to know of a byte.
var class = func() (t [256]uint16) {
	for c := range 256 {
		b := byte(c)
		switch {
		case b >= '0' && b <= '9':
			t[c] = digit | inLocal | inDomain | inName
		case b|0x20 >= 'a' && b|0x20 <= 'z':
			t[c] = letter | inLocal | inDomain | inName
			if b|0x20 <= 'f' {
				t[c] |= hexOnly
			}
			if b&0x20 == 0 {
				t[c] |= upper
			}
		case b >= 0x80:
			t[c] = rare
		}
	}
	for _, c := range "_+-" {
		t[c] |= inLocal
	}
	t['_'] |= inName
	t['.'] = inLocal | inDomain | dot
	t['-'] |= inDomain | hyphen
	t['%'] = inLocal | rare
	t['\''], t['\\'] = rare, rare
	return t
}()

// lower maps ASCII letters to lower case and leaves other bytes.
var lower = func() (t [256]byte) {
	for c := range 256 {
		t[c] = byte(c)
		if c >= 'A' && c <= 'Z' {
			t[c] += 'a' - 'A'
		}
	}
	return t
}()

// isDigit reports whether c is an ASCII digit. Bytes below '0' wrap around and are larger than 9 too.
func isDigit(c byte) bool { return c-'0' <= 9 }

// isHexDigit reports whether c is a hexadecimal digit.
func isHexDigit(c byte) bool { return class[c]&(digit|hexOnly) != 0 }
