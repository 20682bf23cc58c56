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

// cpfSums weighs the digits 2, 3, ... from the right, once without and once with the first check digit. s holds eleven digits.
func cpfSums[T string | []byte](s T) bool {
	_ = s[cpfDigits-1]
	first, second := 0, 0
	for i := range cpfDigits - 2 {
		d := int(s[i] - '0')
		first += d * (10 - i)
		second += d * (11 - i)
	}
	a := elevenComplement(first)
	return a == int(s[9]-'0') && elevenComplement(second+2*a) == int(s[10]-'0')
}
