package scan

import "encoding/binary"

const (
	ones   = 0x0101010101010101
	tops   = 0x80 * ones
	sevens = 0x7f * ones
	gather = 0x0102040810204080 // brings the lowest bits of eight bytes together in the top byte

	// stride is the number of bytes one word of a bitmap stands for.
	stride = 32
	// bitmapWords is the size of a bitmap: small enough to stay in the first-level cache, with one word more for looking ahead.
	bitmapWords = 128 + 1
)

// bitmap has a bit for each byte of a stretch of text, set where that byte is a digit.
type bitmap [bitmapWords]uint32

// read fills the bitmap from b[at:]; bytes past the end are no digits.
func (m *bitmap) read(b []byte, at int) {
	rest := b[min(at, len(b)):]
	whole := min(len(rest)/stride, bitmapWords)
	digitWords(m[:whole], rest)
	for w := whole; w < bitmapWords; w++ {
		m[w] = 0
		for k := w * stride; k < min(len(rest), (w+1)*stride); k++ {
			if isDigit(rest[k]) {
				m[w] |= 1 << (k % stride)
			}
		}
	}
}

// find marks where a number worth a look begins, from the digits of the same text; after says that a digit stands before the first of them. The last word
// only serves as what follows the one before it.
func (m *bitmap) find(digits *bitmap, after bool) {
	var before uint64
	if after {
		before = 1
	}
	for w := range bitmapWords - 1 {
		here := uint64(digits[w])
		d := here | uint64(digits[w+1])<<stride
		d3 := d & (d >> 1) & (d >> 2)
		d4 := d3 & (d >> 3)
		gap := ^d & (d4 &^ (d >> 4) >> 1) // a character and then four digits, not five
		long := d4 & (d4 >> 4)
		split := d4 & (gap>>4 | d>>4&(gap>>5|d>>5&(gap>>6|d>>6&(gap>>7))))
		amex := d4 & (^d >> 4) & (d4 >> 5) & (d4 >> 7)
		// A dotted CPF may follow the digits of an escape such as %20, so it need not begin its run.
		cpf := d3 & (^d >> 3) & (d3 >> 4) & (^d >> 7) & (d3 >> 8) & (^d >> 11) & (d >> 12) & (d >> 13)
		m[w] = uint32((long|split|amex)&^(d<<1|before) | cpf)
		before = here >> (stride - 1)
	}
}

// digitWordsPortable is digitWords for processors without a faster way. It takes eight bytes at a time.
func digitWordsPortable(dst []uint32, src []byte) {
	for w := range dst {
		p := src[w*stride:][:stride]
		dst[w] = uint32(digitByte(binary.LittleEndian.Uint64(p)) | digitByte(binary.LittleEndian.Uint64(p[8:]))<<8 |
			digitByte(binary.LittleEndian.Uint64(p[16:]))<<16 | digitByte(binary.LittleEndian.Uint64(p[24:]))<<24)
	}
}

// digitByte has bit k set where byte k of word is a digit: one that, less '0', neither has its top bit set nor gets it by adding 0x76.
func digitByte(word uint64) uint64 {
	x := word ^ '0'*ones
	return (^(x&sevens + 0x76*ones | x) & tops >> 7) * gather >> 56
}
