package identifier

// A CNPJ has twelve letters or digits, as of 2026, and two check digits.
const (
	cnpjLetters = 12
	cnpjLength  = 14
	cnpjLongest = len("00.000.000/0000-00")
)

// ParseWrittenCNPJ reads a CNPJ as people write it, with or without dots, slash and dash and with letters of either
// case, and returns its fourteen characters.
func ParseWrittenCNPJ(s string, check CheckDigits) (string, error) {
	if len(s) > cnpjLongest {
		return "", ErrLength
	}
	plain := make([]byte, 0, cnpjLongest)
	for i := range len(s) {
		switch c := s[i]; {
		case c == '.' || c == '/' || c == '-':
			if i == 0 || i == len(s)-1 {
				return "", ErrCharacter
			}
		case c >= 'a' && c <= 'z':
			plain = append(plain, c-'a'+'A')
		default:
			plain = append(plain, c)
		}
	}
	return ParseCNPJ(string(plain), check)
}

// ParseCNPJ reads a CNPJ of fourteen characters: twelve digits or capital letters, then two check digits. No
// punctuation, as in the contract.
func ParseCNPJ(s string, check CheckDigits) (string, error) {
	if s == "" {
		return "", ErrEmpty
	}
	for i := range len(s) {
		if !isASCIIDigit(s[i]) && (s[i] < 'A' || s[i] > 'Z' || i >= cnpjLetters) {
			return "", ErrCharacter
		}
	}
	if len(s) != cnpjLength {
		return "", ErrLength
	}
	if isOneDigitRepeated(s) {
		return "", ErrRepeated
	}
	if check == Required && !hasCNPJDigits(s) {
		return "", ErrCheckDigits
	}
	return s, nil
}

// ValidCNPJ says whether s is a CNPJ in the form ParseCNPJ takes, check digits included. It does not allocate.
func ValidCNPJ[T string | []byte](s T) bool {
	if len(s) != cnpjLength {
		return false
	}
	for i := range cnpjLength {
		if c := s[i]; !isASCIIDigit(c) && (c < 'A' || c > 'Z' || i >= cnpjLetters) {
			return false
		}
	}
	return !isOneDigitRepeated(s) && hasCNPJDigits(s)
}

// hasCNPJDigits weighs the characters 2 to 9 and round again from the right; a character counts as its code minus that
// of '0'. The first eight go at once, then the next four.
func hasCNPJDigits[T string | []byte](s T) bool {
	start, end := loadEight(s, 0)-'0'*ones, loadEight(s, 6)-'0'*ones
	first := weighBytes(start, 5<<48|3<<32|9<<16|7, 4<<48|2<<32|8<<16|6) + weighBytes(end, 5<<32|3<<16, 4<<32|2<<16)
	second := weighBytes(start, 6<<48|4<<32|2<<16|8, 5<<48|3<<32|9<<16|7) + weighBytes(end, 6<<32|4<<16, 5<<32|3<<16)
	a := elevenComplement(first)
	return a == int(s[12]-'0') && elevenComplement(second+2*a) == int(s[13]-'0')
}
