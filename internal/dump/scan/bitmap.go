package scan

import "encoding/binary"

const (
	ones   = 0x0101010101010101
	tops   = 0x80 * ones
	sevens = 0x7f * ones
	gather = 0x0102040810204080 // brings the lowest bits of eight bytes together in the top byte

	// bitmapBytes is the size of a bitmap: small enough to stay in the first-level cache. It stands for eight times as
	// many bytes of text.
	bitmapBytes = 536
	// step is how many places are judged at once: what 64 bits hold, less the length of the longest rhythm, in whole
	// bytes.
	step = 48
	// steps is how often that goes into a bitmap, with 64 bits to see at the last one, by fours: so many go into a
	// register.
	steps = ((bitmapBytes-8)*8/step + 1) &^ 3
)

// stretch is how many bytes of text are searched with one filling of the bitmaps: whole words of them.
const stretch = steps * step

// bitmap has a bit for each byte of a stretch of text and a little more.
type bitmap [bitmapBytes]byte

// marks are where the digits and where the signs are in a stretch of text: '@', '%', what may begin something that has to
// be decoded, and a hyphen or slash five places before a hyphen, as UUIDs and CNPJs have them.
type marks struct {
	_      [7]byte
	before byte // its top bit says whether a digit stands before the stretch: the bitmap goes on from there
	digits bitmap
	signs  [bitmapBytes / 8]uint64
	// places are where numbers worth a look begin, 48 bits for as many bytes.
	places [steps]uint64
}

// readBitmaps fills the bitmaps from b[at:]; past the end there is nothing.
func (m *marks) readBitmaps(b []byte, at int) {
	m.before = 0
	if at > 0 && at <= len(b) && isDigit(b[at-1]) {
		m.before = 0x80
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
// character or two and four digits, or four, a character and six, or is written like 529.982.247-25 or 529.982.247 -25. before is d one
// place later: what stands before each place. rhythmsAVX2 is the same, line by line.
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

// findPortable is find for processors without a faster way.
func (m *marks) findPortable() {
	before := uint64(m.before >> 7)
	for n := range m.places {
		d := m.digits.windowAt(n)
		m.places[n] = rhythms(d, d<<1|before)
		before = d >> (step - 1) & 1
	}
}

// keySpan is how far the hyphens of a UUID stand apart, and the hyphen of a CNPJ behind its slash.
const keySpan = 5

// markPortable is mark for processors without a faster way. It takes eight bytes at a time.
func markPortable(digits []byte, signs []uint64, src []byte) {
	clear(signs)
	for k := range digits {
		word, next := binary.LittleEndian.Uint64(src[k*8:]), binary.LittleEndian.Uint64(src[k*8+keySpan:])
		// A digit, less '0', neither has its top bit set nor gets it by adding 0x76; a byte that is zero does not get
		// it by adding 0x7f. A hyphen is a slash but for one bit.
		digits[k] = clearTops(word^'0'*ones, 0x76*ones)
		keys := clearTops((word|('-'^'/')*ones)^'/'*ones, sevens) & clearTops(next^'-'*ones, sevens)
		signs[k/8] |= uint64(signBits(word, src[k*8+8])|keys) << (k % 8 * 8)
	}
}

// isSign tells the signs: \u0040, &#64;, [at], (arroba) and {at}, characters without width, dashes, full-width letters, the
// second byte of a no-break space.
var isSign = [256]bool{
	'@':  true,
	'%':  true,
	'\\': true,
	'&':  true,
	'[':  true,
	'(':  true,
	'{':  true,
	0xa0: true,
	0xe2: true,
	0xef: true,
}

// Texts are full of signs that are none by what follows: (11), [12/Mar, \n, &b=. Those of ASCII but '@' and '{' are marked
// where the next byte may follow it in what is looked for. expected is what a byte must be, by its low half, to be one of
// these or '@', and spoils the bits that the byte after it takes off that, by half of it: '(' and '[' stay before ' ', 'a',
// 'd' and 'p', '%' before '2', '4', '5' and 'u', '&' before '#', 'a' and 'c', a backslash before 'u' and 'x'. Some others
// stay, too: bits are few.
var (
	expected = [16]byte{0: '@', 5: '%', 6: '&', 8: '(', 11: '[', 12: '\\'}
	spoils   = [16]byte{4, 0, 0, 0x2f, 0x2f, 0x2f, 0x2f, 0x2f, 4, 10, 10, 2, 0x23, 0x2f, 0x2f, 0x2f}
)

// isMarkedSign reports whether c is marked as a sign before next.
func isMarkedSign(c, next byte) bool {
	if c >= '{' {
		return isSign[c]
	}
	e := expected[c&15]
	if next < 0xff { // whose half has no place in a table of a register
		e &^= spoils[(next+1)>>1&15]
	}
	return e == c
}

// signBits has bit k set where byte k of word is a sign; after is the byte behind it.
func signBits(word uint64, after byte) (bits byte) {
	next := word>>8 | uint64(after)<<56
	for k := range 8 {
		if isMarkedSign(byte(word>>(8*k)), byte(next>>(8*k))) {
			bits |= 1 << k
		}
	}
	return bits
}

// clearTops has bit k set where byte k of x does not have its top bit set, neither before nor after adding that of
// more.
func clearTops(x, more uint64) byte {
	return byte((^(x&sevens + more | x) & tops >> 7) * gather >> 56)
}
