package scan

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/bits"
	"unicode/utf8"
)

// convertReader turns a text of another encoding into UTF-8, a piece at a time.
type convertReader struct {
	r    io.Reader
	raw  [32 << 10]byte
	kept int // bytes of raw that the last piece left over
	// convert appends what raw says to dst, and returns how many bytes of raw it took. At the end it takes all.
	convert func(dst, raw []byte, end bool) ([]byte, int)
	out     []byte
	text    []byte // what of out was not taken yet
	err     error
}

func (c *convertReader) Read(p []byte) (int, error) {
	for len(c.text) == 0 {
		if c.err != nil {
			return 0, c.err
		}
		var n int
		n, c.err = c.r.Read(c.raw[c.kept:])
		n += c.kept
		var took int
		c.out, took = c.convert(c.out[:0], c.raw[:n], c.err != nil)
		c.kept = copy(c.raw[:], c.raw[took:n])
		c.text = c.out
	}
	n := copy(p, c.text)
	c.text = c.text[n:]
	return n, nil
}

// otherEncoding tells text in four bytes a character, and text whose lines go on in the next, and how to read it.
func otherEncoding(start []byte) func(dst, raw []byte, end bool) ([]byte, int) {
	if low, ok := utf32Order(start); ok {
		return func(dst, raw []byte, _ bool) ([]byte, int) { return fromUTF32(dst, raw, low) }
	}
	if isFolded(start) {
		return unfoldLines
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

// fromUTF32 appends raw as UTF-8 and returns how many bytes were whole characters. low is the position of the lowest
// byte in a character: 3 means big endian.
func fromUTF32(dst, raw []byte, low int) ([]byte, int) {
	whole := len(raw) &^ 3
	for i := 0; i < whole; i += 4 {
		c := binary.LittleEndian.Uint32(raw[i:])
		if low == 3 {
			c = bits.ReverseBytes32(c)
		}
		dst = utf8.AppendRune(dst, rune(c&0x7fffffff)) // what is no character becomes the one for that
	}
	return dst, whole
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
func unfoldLines(dst, raw []byte, end bool) ([]byte, int) {
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if c != '\r' && c != '\n' {
			dst = append(dst, c)
			continue
		}
		next := i + 1
		if c == '\r' && next < len(raw) && raw[next] == '\n' {
			next++
		}
		if next >= len(raw) && !end {
			return dst, i
		}
		if next < len(raw) && raw[next-1] == '\n' && (raw[next] == ' ' || raw[next] == '\t') {
			i = next
			continue
		}
		dst = append(dst, c)
	}
	return dst, len(raw)
}
