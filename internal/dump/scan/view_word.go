package scan

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"unicode/utf8"
)

// word decodes the word b[i:end], if it is a text in base64 or hexadecimal digits or an address that a network hid.
func (v *view) word(b []byte, i, end int, room *[]byte) int {
	n := end - i
	switch {
	case n < shortestCode:
		if n == 12 && end < len(b) && b[end] == '=' && string(b[i:end]) == "data-cfemail" {
			for end < len(b) && (b[end] == '=' || b[end] == '\\' || quote(b[end])) {
				end++
			}
			return v.decodeHidden(b, end)
		}
		return 0
	case b[i] == '0' && b[i+1]|0x20 == 'x':
		if text := hexText(room, b[i+2:end]); text != nil {
			return v.putDecoded(i, end, text...)
		}
		return 0
	}
	if text := hexText(room, b[i:end]); text != nil {
		return v.putDecoded(i, end, text...)
	}
	if text := baseText(room, b[i:end]); text != nil {
		for k := 0; k < 2 && end < len(b) && b[end] == '='; k++ {
			end++
		}
		return v.putDecoded(i, end, text...)
	}
	return 0
}

// decodeHidden reads an address each byte of which was changed by the first.
func (v *view) decodeHidden(b []byte, i int) int {
	end := i
	for end < len(b) && end-i < 2*margin && isHexDigit(b[end]) {
		end++
	}
	n := (end - i) / 2
	if n < 6 {
		return 0
	}
	text := make([]byte, n)
	if _, err := hex.Decode(text, b[i:i+2*n]); err != nil {
		return 0
	}
	for k := 1; k < n; k++ {
		text[k] ^= text[0]
	}
	text[0] = ' '
	return v.putDecoded(i, end, text...)
}

// shortestCode is how long a word in a code has to be: no identifier is written in fewer.
const shortestCode = 16

// hexText returns the text that hexadecimal digits stand for, or nil.
func hexText(room *[]byte, digits []byte) []byte {
	if len(digits) < shortestCode || len(digits)%2 == 1 || digits[0] < '2' || digits[0] > '7' {
		return nil
	}
	text := (*room)[:0]
	for k := 0; k < len(digits); k += 2 {
		if !isHexDigit(digits[k]) || !isHexDigit(digits[k+1]) {
			return nil
		}
		c := HexDigitValue(digits[k])<<4 | HexDigitValue(digits[k+1])
		if c < ' ' && c != '\n' && c != '\t' && c != '\r' || c == 0x7f {
			return nil
		}
		text = append(text, c)
	}
	*room = text
	return text
}

// baseText returns the text that base64 stands for, or nil.
func baseText(room *[]byte, word []byte) []byte {
	if len(word)%4 == 1 || len(word) > 4*margin {
		return nil
	}
	coding := base64.RawStdEncoding
	if bytes.IndexByte(word, '_') >= 0 || bytes.IndexByte(word, '-') >= 0 {
		coding = base64.RawURLEncoding
	}
	// Most words are none: their first bytes show it.
	var start [6]byte
	if _, err := coding.Decode(start[:], word[:8]); err != nil || !printable(start[:]) {
		return nil
	}
	text, err := coding.AppendDecode((*room)[:0], word)
	if err != nil || !printable(text) {
		return nil
	}
	*room = text
	return text
}

// printable reports whether bytes are text.
func printable(text []byte) bool {
	for _, c := range text {
		if c < ' ' && c != '\n' && c != '\t' && c != '\r' || c == 0x7f {
			return false
		}
	}
	return utf8.Valid(text)
}
