package scan

import (
	"bufio"
	"bytes"
	"io"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
	"golang.org/x/text/transform"
)

// sniffed is how many bytes tell an encoding.
const sniffed = 512

// decodedMail looks at the first bytes of r and, where they show text that is not plain bytes, returns a reader that makes it
// so. It also says whether it is mail, whose encodings were undone where it was opened.
func decodedMail(r io.Reader) (text io.Reader, isMail bool) {
	head := bufio.NewReaderSize(r, sniffed)
	start, _ := head.Peek(sniffed) // an error comes again with the read after it
	if convert := otherEncoding(start); convert != nil {
		return transform.NewReader(head, convert), false
	}
	return head, IsMessage(start)
}

// encoded reports whether text that begins like this must be decoded, or is mail, which is told as a whole.
func encoded(start []byte) bool {
	return IsMessage(start) || otherEncoding(start) != nil
}

// utf16Order tells UTF-16 by its mark or by its pattern of NUL bytes, and which byte of each pair is the high one.
func utf16Order(b []byte) (high int, ok bool) {
	switch {
	case bytes.HasPrefix(b, []byte{0xff, 0xfe}):
		return 1, true
	case bytes.HasPrefix(b, []byte{0xfe, 0xff}):
		return 0, true
	}
	var nul [2]int
	for i, c := range b {
		if c == 0 {
			nul[i&1]++
		}
	}
	half := len(b) / 2
	if half < 8 {
		return 0, false
	}
	// Text of Latin letters has a NUL in nearly every high byte and in none of the low ones.
	for high := range nul {
		if nul[high]*4 > half*3 && nul[1-high]*16 < half {
			return high, true
		}
	}
	return 0, false
}

// otherEncoding tells text in two or four bytes a character, and text whose lines go on in the next, and how to read it.
func otherEncoding(start []byte) transform.Transformer {
	if low, ok := utf32Order(start); ok {
		return utf32.UTF32(utf32.Endianness(low == 0), utf32.IgnoreBOM).NewDecoder()
	}
	if isFolded(start) {
		return unfoldLines{}
	}
	if high, ok := utf16Order(start); ok {
		return unicode.UTF16(unicode.Endianness(high == 1), unicode.IgnoreBOM).NewDecoder()
	}
	return nil
}

// utf32Order tells UTF-32 by its mark or by where its zero bytes are, and which byte of four is the low one.
func utf32Order(b []byte) (low int, ok bool) {
	switch {
	case bytes.HasPrefix(b, []byte{0xff, 0xfe, 0, 0}):
		return 0, true
	case bytes.HasPrefix(b, []byte{0, 0, 0xfe, 0xff}):
		return 3, true
	}
	var zeros [4]int
	for i, c := range b {
		if c == 0 {
			zeros[i&3]++
		}
	}
	quarter := len(b) / 4
	if quarter < 8 {
		return 0, false
	}
	for _, low := range [2]int{0, 3} {
		if zeros[low]*16 < quarter && zeros[3-low] >= quarter && min(zeros[1], zeros[2])*4 > quarter*3 {
			return low, true
		}
	}
	return 0, false
}

// isFolded knows directories (LDIF) and address books (vCard), whose long lines go on after a line end and a blank.
func isFolded(b []byte) bool {
	for line := range bytes.Lines(b) {
		if bytes.HasPrefix(line, []byte("dn: ")) || bytes.HasPrefix(line, []byte("dn:: ")) || len(line) >= 11 && bytes.EqualFold(line[:11], []byte("BEGIN:VCARD")) {
			return true
		}
		if line[0] != '#' && !bytes.HasPrefix(line, []byte("version:")) && len(bytes.TrimSpace(line)) > 0 {
			return false
		}
	}
	return false
}

// unfoldLines joins lines that go on.
type unfoldLines struct{ transform.NopResetter }

// Transform copies a text without the line ends, and the blanks behind them, over which a line goes on.
func (unfoldLines) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	for nSrc < len(src) {
		c, next := src[nSrc], nSrc+1
		if c == '\r' && next < len(src) && src[next] == '\n' {
			next++
		}
		switch {
		case (c == '\r' || c == '\n') && next >= len(src) && !atEOF:
			return nDst, nSrc, transform.ErrShortSrc
		case next < len(src) && src[next-1] == '\n' && (src[next] == ' ' || src[next] == '\t'):
			nSrc = next + 1
			continue
		case nDst == len(dst):
			return nDst, nSrc, transform.ErrShortDst
		}
		dst[nDst] = c
		nDst, nSrc = nDst+1, nSrc+1
	}
	return nDst, nSrc, nil
}

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
