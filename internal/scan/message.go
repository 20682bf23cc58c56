package scan

import "bytes"

// IsMessage says whether what begins like this is a message, or a mailbox.
func IsMessage(head []byte) bool {
	for line := range bytes.Lines(head) {
		if bytes.HasPrefix(line, []byte("From ")) {
			return true
		}
		if line[0] == ' ' || line[0] == '\t' {
			continue // a header goes on
		}
		name, _, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			return false
		}
		switch string(bytes.ToLower(name)) {
		case "return-path", "received", "delivered-to", "mime-version", "message-id", "x-gm-thrid", "x-mozilla-status", "content-transfer-encoding":
			return true
		}
	}
	return false
}

// AppendUnquoted appends to dst what a line of quoted-printable text says: =40 is '@', and a line that ends in '=' goes on in the
// next.
func AppendUnquoted(dst, line []byte) []byte {
	for i := 0; i < len(line); i++ {
		if line[i] != '=' {
			dst = append(dst, line[i])
			continue
		}
		rest := line[i+1:]
		switch {
		case len(rest) >= 2 && HexDigitValue(rest[0]) < 16 && HexDigitValue(rest[1]) < 16:
			dst = append(dst, HexDigitValue(rest[0])<<4|HexDigitValue(rest[1]))
			i += 2
		case len(bytes.TrimRight(rest, " \t\r\n")) == 0:
			return dst
		default:
			dst = append(dst, '=')
		}
	}
	return dst
}

// HexDigitValue returns the value of a hexadecimal digit, or 16 for another byte.
func HexDigitValue(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 16
}
