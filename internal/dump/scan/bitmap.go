package scan

import (
	"bytes"
	"encoding/binary"
)

const (
	ones   = 0x0101010101010101
	tops   = 0x80 * ones
	sevens = 0x7f * ones
	gather = 0x0002040810204081 // brings the top bits of eight bytes together in the top byte

	// bitmapBytes is the size of a bitmap: small enough to stay in the first-level cache. It stands for eight times as
	// many bytes of text.
	bitmapBytes = 536
	// step is how many places are judged at once: what 64 bits hold, less the length of the longest rhythm, in whole
	// bytes.
	step = 48
	// steps is how often that goes into a bitmap, with 64 bits to see at the last one; a multiple of four, as places
	// are looked at by fours.
	steps = ((bitmapBytes-8)*8/step + 1) &^ 3
)

// stretch is how many bytes of text are searched with one filling of the bitmaps: whole words of them.
const stretch = steps * step

// bitmap has a bit for each byte of a stretch of text and a little more.
type bitmap [bitmapBytes]byte

// marks are where the digits and where the signs are in a stretch of text: '@', '%', what may begin something that has
// to be decoded, and a hyphen or slash five places before a hyphen, as UUIDs and CNPJs have them.
type marks struct {
	before uint64 // 1 if a digit stands before the stretch
	digits bitmap
	signs  [bitmapBytes / 8]uint64
	// places are where numbers worth a look begin, 48 bits for as many bytes.
	places [steps]uint64
}

// readBitmaps fills the bitmaps from b[at:]; past the end there is nothing.
func (m *marks) readBitmaps(b []byte, at int) {
	m.before = 0
	if at > 0 && at <= len(b) && isDigit(b[at-1]) {
		m.before = 1
	}
	m.markStretch(b, at)
	m.findNumbers()
}

// markStretch fills the bitmaps of a stretch.
func (m *marks) markStretch(b []byte, at int) {
	rest := b[min(at, len(b)):]
	whole := min(max(0, len(rest)-keySpan)/64, len(m.signs))
	markBytes(m.digits[:whole*8], m.signs[:whole], rest)
	if whole == len(m.signs) {
		return
	}
	// What is left is less than 64 bytes and those that are seen beyond them.
	var padded [2*64 + keySpan]byte
	copy(padded[:], rest[whole*64:])
	end := min(whole+2, len(m.signs))
	markBytes(m.digits[whole*8:end*8], m.signs[whole:end], padded[:])
	clear(m.digits[end*8:])
	clear(m.signs[end:])
}

// bitsAt returns the bits from place n of a stretch on, at least 57 of them.
func (m *bitmap) bitsAt(n int) uint64 {
	k := uint(n) / 8
	return binary.LittleEndian.Uint64(m[k:k+8]) >> (uint(n) % 8)
}

// windowAt returns the 64 bits from place n*step on.
func (m *bitmap) windowAt(n int) uint64 { return binary.LittleEndian.Uint64(m[n*step/8:][:8]) }

// rhythms marks, among the first 48 places of d, where a number worth a look begins or, if it has short groups, where
// the last four digits of its first group begin. What is looked for has eight digits in a row, or four digits, a
// character or two and four digits, or four, a character and six, or is written like 529.982.247-25 or 529.982.247 -25.
// before is d one place later: what stands before each place.
func rhythms(d, before uint64) uint64 {
	d3 := d & (d >> 1) & (d >> 2)
	d4 := d3 & (d >> 3)
	end3 := d3 &^ (d >> 3) // the last three digits of a group
	end4 := d4 &^ (d >> 4)
	long := d4 & (d4 >> 4) &^ before
	split := end4 & (end4>>5 | end4>>6 | d4>>5&(d4>>7))
	cpf := end3 & (end3 >> 4) & (end3 >> 8) & (d >> 13) & (d>>12 | d>>14)
	return (long | split | cpf) & (1<<step - 1)
}

// findNumbers marks the places where numbers begin.
func (m *marks) findNumbers() {
	before := m.before
	for n := range m.places {
		d := m.digits.windowAt(n)
		m.places[n] = 0
		if d&(d>>1)&(d>>2) != 0 { // else there are no three digits in a row, and so no number
			m.places[n] = rhythms(d, d<<1|before)
		}
		before = d >> (step - 1) & 1
	}
}

// keySpan is how far the hyphens of a UUID stand apart, and the hyphen of a CNPJ behind its slash.
const keySpan = 5

// markBytes fills digits and signs, which have as many bits, with those of src, which has a byte for each and keySpan
// more.
func markBytes(digits []byte, signs []uint64, src []byte) {
	for i := range signs {
		block := (*[64]byte)(src[i*64:])
		binary.LittleEndian.PutUint64(digits[i*8:], digitBits(block[0:])|digitBits(block[8:])<<8|
			digitBits(block[16:])<<16|digitBits(block[24:])<<24|digitBits(block[32:])<<32|
			digitBits(block[40:])<<40|digitBits(block[48:])<<48|digitBits(block[56:])<<56)
	}
	markSigns(signs, src)
}

// digitBits has bit k set where byte k of eight is a digit: without its top bit, a digit, less '0', gets none by adding
// 0x76, and all other bytes do.
func digitBits(eight []byte) uint64 {
	word := binary.LittleEndian.Uint64(eight)
	return (^(word&sevens ^ '0'*ones + 0x76*ones | word) & tops) * gather >> 56
}

// markSigns searches for one sign after the other: bytes.IndexByte is so fast that ten of its searches take less time
// than a look at each byte.
func markSigns(signs []uint64, src []byte) {
	clear(signs)
	size := len(signs) * 64
	for _, c := range allSigns {
		for at := 0; ; at++ {
			next := bytes.IndexByte(src[at:size], c)
			if next < 0 {
				break
			}
			if at += next; isMarkedSign(c, src[at+1]) {
				signs[at/64] |= 1 << (at % 64)
			}
		}
	}
	for hyphen := keySpan; ; hyphen++ {
		next := bytes.IndexByte(src[hyphen:size+keySpan], '-')
		if next < 0 {
			return
		}
		hyphen += next
		if at := hyphen - keySpan; src[at] == '-' || src[at] == '/' {
			signs[at/64] |= 1 << (at % 64)
		}
	}
}

// Texts are full of signs that are none by what follows: (11), [12/Mar, \n, &b=. Most of ASCII are marked only where
// the next byte may follow it in what is looked for: \u0040, &#64;, [at], (arroba), %40. What has no such byte always
// counts: '@', {at}, characters without width, dashes, full-width letters, the second byte of a no-break space.
//
// allSigns are all bytes that may be signs, but for the hyphens and slashes of keys.
var allSigns = []byte("@{([%&\\\xa0\xe2\xef")

// A byte is a sign if its group in signGroups has a bit in common with followGroups of the byte after it.
var signGroups, followGroups = func() (signs, follow [256]uint8) {
	const always = 1
	for _, c := range allSigns {
		signs[c] = always
	}
	for c := range follow {
		follow[c] = always
	}
	for i, group := range []struct{ signs, next string }{
		{signs: "([", next: " aAdDpP"},
		{signs: "%", next: "245u"},
		{signs: "&", next: "#ac"},
		{signs: `\`, next: "uUxX"},
	} {
		for _, c := range []byte(group.signs) {
			signs[c] = 2 << i
		}
		for _, c := range []byte(group.next) {
			follow[c] |= 2 << i
		}
	}
	return signs, follow
}()

// isMarkedSign reports whether c is marked as a sign before next.
func isMarkedSign(c, next byte) bool { return signGroups[c]&followGroups[next] != 0 }
