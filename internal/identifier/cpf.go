package identifier

const (
	cpfDigits  = 11
	cpfLongest = len("000.000.000-00")
)

// ParseCPF reads a CPF of eleven digits, with or without dots and dash, and returns the digits.
func ParseCPF(s string, check CheckDigits) (string, error) {
	if s == "" {
		return "", ErrEmpty
	}
	if len(s) > cpfLongest {
		return "", ErrLength
	}
	digits, err := joinDigits(make([]byte, 0, cpfLongest), s, ".-")
	if err != nil {
		return "", err
	}
	return ParseCPFDigits(string(digits), check)
}

// ParseCPFDigits reads a CPF written as eleven digits and nothing else.
func ParseCPFDigits(s string, check CheckDigits) (string, error) {
	if s == "" {
		return "", ErrEmpty
	}
	if !allDigits(s) {
		return "", ErrCharacter
	}
	if len(s) != cpfDigits {
		return "", ErrLength
	}
	if repeated(s) {
		return "", ErrRepeated
	}
	if check == Required && !cpfSums(s) {
		return "", ErrCheckDigits
	}
	return s, nil
}

// ValidCPF says whether digits is a CPF: eleven ASCII digits, not all equal, check digits right. It does not allocate.
func ValidCPF[T string | []byte](digits T) bool {
	return len(digits) == cpfDigits && allDigits(digits) && cpfSums(digits) && !repeated(digits)
}

// cpfSums weighs the digits 2, 3, ... from the right, once without and once with the first check digit. s holds eleven
// digits. Written out, as it is asked of every number of every dump.
func cpfSums[T string | []byte](s T) bool {
	_ = s[cpfDigits-1]
	d0, d1, d2, d3, d4 := int(s[0]-'0'), int(s[1]-'0'), int(s[2]-'0'), int(s[3]-'0'), int(s[4]-'0')
	d5, d6, d7, d8 := int(s[5]-'0'), int(s[6]-'0'), int(s[7]-'0'), int(s[8]-'0')
	first := 10*d0 + 9*d1 + 8*d2 + 7*d3 + 6*d4 + 5*d5 + 4*d6 + 3*d7 + 2*d8
	second := first + d0 + d1 + d2 + d3 + d4 + d5 + d6 + d7 + d8
	a := elevenComplement(first)
	return a == int(s[9]-'0') && elevenComplement(second+2*a) == int(s[10]-'0')
}
