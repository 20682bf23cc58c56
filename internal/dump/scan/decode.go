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

// decodedMail looks at the first bytes of r and, where they show text that is not plain bytes, returns a reader that
// makes it so. It also says whether it is mail, whose encodings were undone where it was opened.
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

// otherEncoding tells text in two or four bytes a character, by its mark or by where its zero bytes are, and text whose
// lines go on in the next, and how to read it. Text of Latin letters has a zero in nearly every high byte and in none
// of the low ones.
func otherEncoding(start []byte) transform.Transformer {
	var zeros [4]int
	for i, c := range start {
		if c == 0 {
			zeros[i&3]++
		}
	}
	quarter, half := len(start)/4, len(start)/2
	inFours := func(low int) bool { // which byte of four is the low one
		return quarter >= 8 && zeros[low]*16 < quarter && zeros[3-low] >= quarter &&
			min(zeros[1], zeros[2])*4 > quarter*3
	}
	inTwos := func(low int) bool {
		return half >= 8 && (zeros[1-low]+zeros[3-low])*4 > half*3 && (zeros[low]+zeros[low+2])*16 < half
	}
	marked := func(mark string) bool { return bytes.HasPrefix(start, []byte(mark)) }
	switch {
	case marked("\xff\xfe\x00\x00"), inFours(0):
		return utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM).NewDecoder()
	case marked("\x00\x00\xfe\xff"), inFours(3):
		return utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM).NewDecoder()
	case isFolded(start):
		return unfoldLines{}
	case marked("\xff\xfe"), inTwos(0) && !marked("\xfe\xff"):
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewDecoder()
	case marked("\xfe\xff"), inTwos(1):
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewDecoder()
	}
	return nil
}

// isFolded knows directories (LDIF) and address books (vCard), whose long lines go on after a line end and a blank.
func isFolded(b []byte) bool {
	for line := range bytes.Lines(b) {
		if bytes.HasPrefix(line, []byte("dn: ")) || bytes.HasPrefix(line, []byte("dn:: ")) ||
			len(line) >= 11 && bytes.EqualFold(line[:11], []byte("BEGIN:VCARD")) {
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
		case "return-path",
			"received",
			"delivered-to",
			"mime-version",
			"message-id",
			"x-gm-thrid",
			"x-mozilla-status",
			"content-transfer-encoding":
			return true
		}
	}
	return false
}

// AppendUnquoted appends to dst what a line of quoted-printable text says: =40 is '@', and a line that ends in '=' goes
// on in the next.
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
