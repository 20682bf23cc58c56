package scan

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// sniffed is how many bytes tell an encoding.
const sniffed = 512

// decoded looks at the first bytes of r and, where they show text that is not plain bytes, returns a reader that makes
// it so.
func decoded(r io.Reader) io.Reader {
	text, _ := decodedMail(r)
	return text
}

// decodedMail also says whether it is mail.
func decodedMail(r io.Reader) (text io.Reader, mail bool) {
	head := bufio.NewReaderSize(r, sniffed)
	start, _ := head.Peek(sniffed) // an error comes again with the read after it
	if convert := otherEncoding(start); convert != nil {
		return &convertReader{r: head, convert: convert}, false
	}
	if high, ok := utf16Order(start); ok {
		return &convertReader{r: head, convert: (&fromUTF16{high: high}).convert}, false
	}
	if isMail(start) {
		return &mailReader{r: bufio.NewReaderSize(head, 64<<10)}, true
	}
	return head, false
}

// encoded says whether text that begins like this must be decoded.
func encoded(start []byte) bool {
	_, wide := utf16Order(start)
	return wide || isMail(start) || otherEncoding(start) != nil
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

// fromUTF16 turns UTF-16 into UTF-8.
type fromUTF16 struct {
	high      int  // index of the high byte in a pair
	surrogate rune // first half of a pair, or zero
}

// convert is for a convertReader.
func (u *fromUTF16) convert(dst, raw []byte, _ bool) ([]byte, int) {
	i := 0
	for ; i+1 < len(raw); i += 2 {
		dst = u.unit(dst, rune(raw[i+u.high])<<8|rune(raw[i+1-u.high]))
	}
	return dst, i
}

// unit appends one code unit. Half a pair alone becomes the replacement character.
func (u *fromUTF16) unit(dst []byte, c rune) []byte {
	if u.surrogate != 0 {
		pair := utf16.DecodeRune(u.surrogate, c)
		u.surrogate = 0
		dst = utf8.AppendRune(dst, pair)
		if pair != utf8.RuneError {
			return dst
		}
	}
	switch {
	case c < utf8.RuneSelf:
		dst = append(dst, byte(c))
	case c >= 0xd800 && c < 0xdc00:
		u.surrogate = c
	default:
		dst = utf8.AppendRune(dst, c)
	}
	return dst
}

// isMail knows a mailbox, or a message, by its first lines.
func isMail(b []byte) bool {
	for line := range bytes.Lines(b) {
		if bytes.HasPrefix(line, []byte("From ")) {
			return true
		}
		name, _, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			return false
		}
		switch string(bytes.ToLower(name)) {
		case "return-path", "received", "delivered-to", "mime-version", "message-id", "x-gm-thrid", "x-mozilla-status":
			return true
		}
	}
	return false
}

type encoding uint8

const (
	unencoded encoding = iota
	quotedPrintable
	base64Text
)

// mailReader undoes the encodings of message bodies, in which addresses are broken over lines or not readable at all.
// It goes line by line and knows no more of a message than the header that names the encoding, the empty line after it,
// and the lines that end a part.
type mailReader struct {
	r       *bufio.Reader
	body    encoding // of the lines being read
	pending encoding // of the part whose header is being read
	out     []byte
	text    []byte // what of out was not taken yet
	err     error
}

func (m *mailReader) Read(p []byte) (int, error) {
	for len(m.text) == 0 {
		if m.err != nil {
			return 0, m.err
		}
		var line []byte
		line, m.err = m.r.ReadSlice('\n')
		if errors.Is(m.err, bufio.ErrBufferFull) {
			m.err = nil // a line of any length: its pieces are passed on
		}
		m.out = m.line(m.out[:0], line)
		m.text = m.out
	}
	n := copy(p, m.text)
	m.text = m.text[n:]
	return n, nil
}

var encodingHeader = []byte("content-transfer-encoding:")

// line appends to dst what line says.
func (m *mailReader) line(dst, line []byte) []byte {
	text := bytes.TrimRight(line, "\r\n")
	switch {
	case bytes.HasPrefix(text, []byte("--")), bytes.HasPrefix(text, []byte("From ")):
		m.body, m.pending = unencoded, unencoded
	case len(text) == 0 && len(line) > 0:
		m.body, m.pending = max(m.body, m.pending), unencoded
	case m.body == unencoded && len(text) > len(encodingHeader) && bytes.EqualFold(text[:len(encodingHeader)], encodingHeader):
		switch string(bytes.ToLower(bytes.TrimSpace(text[len(encodingHeader):]))) {
		case "quoted-printable":
			m.pending = quotedPrintable
		case "base64":
			m.pending = base64Text
		}
	case m.body == quotedPrintable:
		return unquote(dst, line)
	case m.body == base64Text:
		if plain, err := base64.StdEncoding.AppendDecode(dst, text); err == nil {
			return plain
		}
	}
	return append(dst, line...)
}

// unquote undoes quoted-printable: =40 is '@', and a line that ends in '=' goes on in the next.
func unquote(dst, line []byte) []byte {
	for i := 0; i < len(line); i++ {
		if line[i] != '=' {
			dst = append(dst, line[i])
			continue
		}
		rest := line[i+1:]
		switch {
		case len(rest) >= 2 && isHex(rest[0]) && isHex(rest[1]):
			dst = append(dst, unhex(rest[0])<<4|unhex(rest[1]))
			i += 2
		case len(bytes.TrimRight(rest, " \t\r\n")) == 0:
			return dst
		default:
			dst = append(dst, '=')
		}
	}
	return dst
}

func unhex(c byte) byte {
	if isDigit(c) {
		return c - '0'
	}
	return lower[c] - 'a' + 10
}
