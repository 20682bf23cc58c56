package identifier

// A CPF has eleven digits, and in its usual punctuation fourteen characters.
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
	if isOneDigitRepeated(s) {
		return "", ErrRepeated
	}
	if check == Required && !hasCPFDigits(s) {
		return "", ErrCheckDigits
	}
	return s, nil
}

// IsValidCPF says whether digits is a CPF: eleven ASCII digits, not all equal, check digits right. It does not
// allocate.
func IsValidCPF[T string | []byte](digits T) bool {
	return len(digits) == cpfDigits && hasCPFDigits(digits) && !isOneDigitRepeated(digits)
}

// hasCPFDigits says whether eleven characters are digits with the right check digits: it weighs them 2, 3, ... from the
// right, once without and once with the first check digit. Eight of them go at once, as it is asked of every number of
// every dump.
func hasCPFDigits[T string | []byte](s T) bool {
	word, end := loadEight(s, 0), loadEight(s, cpfDigits-8)
	if !eightDigits(word) || !eightDigits(end) {
		return false
	}
	word, end = word-'0'*ones, end-'0'*ones
	last := int(end >> 40 & 0xff)
	first := weighBytes(word, 10<<48|8<<32|6<<16|4, 9<<48|7<<32|5<<16|3) + 2*last
	second := first + weighBytes(word, 1<<48|1<<32|1<<16|1, 1<<48|1<<32|1<<16|1) + last
	a := elevenComplement(first)
	return a == int(end>>48&0xff) && elevenComplement(second+2*a) == int(end>>56)
}

// FormatCPF writes a CPF as people do, 123.456.789-09; what is not eleven digits stays as it is.
func FormatCPF(digits string) string {
	if len(digits) != cpfDigits {
		return digits
	}
	return digits[:3] + "." + digits[3:6] + "." + digits[6:9] + "-" + digits[9:]
}
