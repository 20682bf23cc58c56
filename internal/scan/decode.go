package scan

import (
	"bufio"
	"bytes"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// sniffed is how many bytes tell an encoding.
const sniffed = 512

// decodedMail looks at the first bytes of r and, where they show text that is not plain bytes, returns a reader that makes it
// so. It also says whether it is mail, whose encodings were undone where it was opened.
func decodedMail(r io.Reader) (text io.Reader, isMail bool) {
	head := bufio.NewReaderSize(r, sniffed)
	start, _ := head.Peek(sniffed) // an error comes again with the read after it
	if convert := otherEncoding(start); convert != nil {
		return &convertReader{r: head, convert: convert}, false
	}
	if high, ok := utf16Order(start); ok {
		return &convertReader{r: head, convert: (&fromUTF16{high: high}).convert}, false
	}
	return head, IsMessage(start)
}

// encoded reports whether text that begins like this must be decoded, or is mail, which is told as a whole.
func encoded(start []byte) bool {
	_, wide := utf16Order(start)
	return wide || IsMessage(start) || otherEncoding(start) != nil
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
		dst = u.appendUnit(dst, rune(raw[i+u.high])<<8|rune(raw[i+1-u.high]))
	}
	return dst, i
}

// appendUnit appends one code unit. Half a pair alone becomes the replacement character.
func (u *fromUTF16) appendUnit(dst []byte, c rune) []byte {
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
