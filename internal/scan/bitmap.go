package scan

import "encoding/binary"

const (
	ones   = 0x0101010101010101
	tops   = 0x80 * ones
	sevens = 0x7f * ones
	gather = 0x0102040810204080 // brings the lowest bits of eight bytes together in the top byte

	// bitmapBytes is the size of a bitmap: small enough to stay in the first-level cache. It stands for eight times as many bytes of text.
	bitmapBytes = 512
	// step is how many places are judged at once: what 64 bits hold, less the length of the longest rhythm, in whole bytes.
	step = 48
	// steps is how often that goes into a bitmap, with 64 bits to see at the last one.
	steps = (bitmapBytes-8)*8/step + 1
)

// bitmap has a bit for each byte of a stretch of text, set where that byte is a digit.
type bitmap [bitmapBytes]byte

// read fills the bitmap from b[at:]; bytes past the end are no digits.
func (m *bitmap) read(b []byte, at int) {
	rest := b[min(at, len(b)):]
	whole := min(len(rest)/32*4, bitmapBytes)
	digitBits(m[:whole], rest)
	clear(m[whole:])
	for k := whole * 8; k < min(len(rest), bitmapBytes*8); k++ {
		if isDigit(rest[k]) {
			m[k/8] |= 1 << (k % 8)
		}
	}
}

// rhythms marks, 48 places a word, where a number worth a look begins or, if it has short groups, where the last four digits of its first group
// begin. What is looked for has eight digits in a row, or four digits, a character and four digits, or four, a character and six, or is written
// like 529.982.247-25. before is 1 where a digit stands before the first place.
func (m *bitmap) rhythms(places *[steps]uint64, before uint64) {
	for n := range places {
		d := binary.LittleEndian.Uint64(m[n*step/8:][:8])
		d2 := d & (d >> 1)
		d3 := d2 & (d >> 2)
		d4 := d3 & (d >> 3)
		end3, end4 := d3&^(d>>3), d4&^(d>>4)
		long := d4 & (d4 >> 4) &^ (d<<1 | before)
		split := end4 & (end4>>5 | d4>>5&(d4>>7))
		cpf := end3 & (end3 >> 4) & (end3 >> 8) & (d2 >> 12)
		places[n] = (long | split | cpf) & (1<<step - 1)
		before = d >> (step - 1) & 1
	}
}

// digitBitsPortable is digitBits for processors without a faster way. It takes eight bytes at a time.
func digitBitsPortable(dst, src []byte) {
	for k := range dst {
		dst[k] = digitByte(binary.LittleEndian.Uint64(src[k*8:]))
	}
}

// digitByte has bit k set where byte k of word is a digit: one that, less '0', neither has its top bit set nor gets it by adding 0x76.
func digitByte(word uint64) byte {
	x := word ^ '0'*ones
	return byte((^(x&sevens + 0x76*ones | x) & tops >> 7) * gather >> 56)
}
