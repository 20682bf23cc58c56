package identifier

import "strings"

// CheckDigits says whether the check digits of a CPF, a CNPJ or a card must be right. The zero value requires them.
type CheckDigits uint8

// Required is the rule; Waived is for sandbox partners, whose people are made up. Every other rule holds for both.
const (
	Required CheckDigits = iota
	Waived
)

// elevenComplement returns the check digit of a weighted sum, in the way CPF and CNPJ share.
func elevenComplement(sum int) int {
	if r := sum % 11; r >= 2 {
		return 11 - r
	}
	return 0
}

// isASCIIDigit reports whether c is a decimal digit.
func isASCIIDigit(c byte) bool { return c-'0' <= 9 }

// allDigits reports whether s consists of ASCII digits; true for an empty s. It tests eight bytes at once for most
// lengths.
func allDigits[T string | []byte](s T) bool {
	if n := len(s); n >= 8 && n <= 16 { // the length of most, which overlap
		return eightDigits(loadEight(s, 0)) && eightDigits(loadEight(s, n-8))
	}
	for i := range len(s) {
		if !isASCIIDigit(s[i]) {
			return false
		}
	}
	return true
}

const (
	ones = 0x0101010101010101
	tops = 0x80 * ones
)

// loadEight is s[i:i+8] in one word, its first byte lowest.
func loadEight[T string | []byte](s T, i int) uint64 {
	s = s[i : i+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(
		s[3],
	)<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// eightDigits reports whether all bytes of a word are digits: less '0', none has its top bit set, nor gets it by adding
// 0x76.
func eightDigits(word uint64) bool {
	word ^= '0' * ones
	return (word|(word&^tops)+0x76*ones)&tops == 0
}

// weighBytes adds up the bytes of a word, each times its weight: even has those of the first, third, fifth and seventh
// byte from its top down, odd the others, 16 bits each. Products that do not count fall below or off the top 16 bits.
func weighBytes(word, even, odd uint64) int {
	const low = 0x00ff00ff00ff00ff
	return int((word&low)*even>>48 + (word>>8&low)*odd>>48)
}

// isOneDigitRepeated reports whether all characters are the same.
func isOneDigitRepeated[T string | []byte](s T) bool {
	for i := 1; i < len(s); i++ {
		if s[i] != s[0] {
			return false
		}
	}
	return true
}

// joinDigits appends the digits of s to dst, leaving out single separators of seps between two digits. Anything else is
// refused.
func joinDigits(dst []byte, s, seps string) ([]byte, error) {
	for i := range len(s) {
		c := s[i]
		if isASCIIDigit(c) {
			dst = append(dst, c)
			continue
		}
		if i == 0 || i == len(s)-1 || !isASCIIDigit(s[i-1]) || !isASCIIDigit(s[i+1]) || strings.IndexByte(seps, c) < 0 {
			return nil, ErrCharacter
		}
	}
	return dst, nil
}
