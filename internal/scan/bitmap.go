package scan

import "encoding/binary"

const (
	ones   = 0x0101010101010101
	tops   = 0x80 * ones
	sevens = 0x7f * ones
	gather = 0x0102040810204080 // brings the lowest bits of eight bytes together in the top byte

	// bitmapBytes is the size of a bitmap: small enough to stay in the first-level cache. It stands for eight times as
	// many bytes of text.
	bitmapBytes = 512
	// step is how many places are judged at once: what 64 bits hold, less the length of the longest rhythm, in whole
	// bytes.
	step = 48
	// steps is how often that goes into a bitmap, with 64 bits to see at the last one, by fours: so many go into a
	// register.
	steps = ((bitmapBytes-8)*8/step + 1) &^ 3
)

// stretch is how many bytes of text are searched with one filling of the bitmaps.
const stretch = steps * step

// bitmap has a bit for each byte of a stretch of text and a little more.
type bitmap [bitmapBytes]byte

// marks are where the digits and where the signs are in a stretch of text: '@', '%', and what may begin something that has
// to be decoded.
type marks struct {
	_      [7]byte
	before byte // its top bit says whether a digit stands before the stretch: the bitmap goes on from there
	digits bitmap
	signs  bitmap
	// hyphens are where UUIDs and CNPJs are looked for.
	hyphens bitmap
	// places are where numbers worth a look begin, 48 bits for as many bytes.
	places [steps]uint64
	// keys are, in the same way, where hyphens stand as in UUIDs and CNPJs, and keyed says that there are any.
	keys  [steps]uint64
	keyed bool
}

// read fills the bitmaps from b[at:]; past the end there is nothing.
func (m *marks) read(b []byte, at int) {
	m.before = 0
	if at > 0 && at <= len(b) && isDigit(b[at-1]) {
		m.before = 0x80
	}
	m.mark(b, at)
	m.find()
}

func (m *marks) mark(b []byte, at int) {
	rest := b[min(at, len(b)):]
	whole := min(len(rest)/32*4, bitmapBytes)
	mark(m.digits[:whole], m.signs[:whole], m.hyphens[:whole], rest)
	if whole == bitmapBytes {
		return
	}
	var padded [32 + 8]byte
	copy(padded[:32], rest[whole*8:])
	mark(m.digits[whole:whole+4], m.signs[whole:whole+4], m.hyphens[whole:whole+4], padded[:])
	clear(m.digits[whole+4:])
	clear(m.signs[whole+4:])
	clear(m.hyphens[whole+4:])
}

// at returns the bits from place n of a stretch on, at least 57 of them.
func (m *bitmap) at(n int) uint64 { return binary.LittleEndian.Uint64(m[n/8:][:8]) >> (n % 8) }

// window returns the 64 bits from place n*step on.
func (m *bitmap) window(n int) uint64 { return binary.LittleEndian.Uint64(m[n*step/8:][:8]) }

// rhythms marks, among the first 48 places of d, where a number worth a look begins or, if it has short groups, where
// the last four digits of its first group begin. What is looked for has eight digits in a row, or four digits, a
// character or two and four digits, or four, a character and six, or is written like 529.982.247-25. before is d one place
// later: what stands before each place. rhythmsAVX2 is the same, line by line.
func rhythms(d, before uint64) uint64 {
	d3 := d & (d >> 1) & (d >> 2)
	d4 := d3 & (d >> 3)
	end3 := d3 &^ (d >> 3) // the last three digits of a group
	end4 := d4 &^ (d >> 4)
	long := d4 & (d4 >> 4) &^ before
	split := end4 & (end4>>5 | end4>>6 | d4>>5&(d4>>7))
	cpf := end3 & (end3 >> 4) & (end3 >> 8) & (d >> 12) & (d >> 13)
	return (long | split | cpf) & (1<<step - 1)
}

// findPortable is find for processors without a faster way.
func (m *marks) findPortable() {
	before := uint64(m.before >> 7)
	m.keyed = false
	for n := range m.places {
		d := m.digits.window(n)
		m.places[n], m.keys[n] = rhythms(d, d<<1|before), keyPlaces(d, m.hyphens.window(n))
		m.keyed = m.keyed || m.keys[n] != 0
		before = d >> (step - 1) & 1
	}
}

// keyPlaces marks, among the first 48 hyphens of h, those that stand as in a UUID, with others five places before and five
// and ten after, and those that stand as in a CNPJ, before two digits and five places after something else. What lies
// before the window may be anything.
func keyPlaces(d, h uint64) uint64 {
	uuid := (h<<5 | 0b11111) & (h >> 5) & (h >> 10)
	cnpj := d >> 1 & (d >> 2) &^ (d>>3 | d<<5 | h>>3)
	return h & (uuid | cnpj) & (1<<step - 1)
}

// markPortable is mark for processors without a faster way. It takes eight bytes at a time.
func markPortable(digits, signs, hyphens, src []byte) {
	for k := range digits {
		word := binary.LittleEndian.Uint64(src[k*8:])
		// A digit, less '0', neither has its top bit set nor gets it by adding 0x76; a byte that is zero does not get
		// it by adding 0x7f.
		digits[k] = clearTops(word^'0'*ones, 0x76*ones)
		signs[k] = signBits(word)
		hyphens[k] = clearTops(word^'-'*ones, sevens)
	}
}

// isSign tells the signs: \u0040, &#64;, [at], (arroba) and {at}, characters without width, dashes, full-width letters, the
// second byte of a no-break space. Of braces the closing one is, as the others have no place of their own in a register.
var isSign = [256]bool{'@': true, '%': true, '\\': true, '&': true, '[': true, '(': true, '}': true, 0xa0: true, 0xe2: true, 0xef: true}

// signBits has bit k set where byte k of word is a sign.
func signBits(word uint64) (bits byte) {
	for k := range 8 {
		if isSign[byte(word>>(8*k))] {
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
