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

// pixKeyLength is that of a random key: a UUID of version 4, as the directory of Pix gives them out.
const pixKeyLength = len("00000000-0000-4000-8000-000000000000")

// ParsePixKey reads a random Pix key and returns it in lower case. The other keys of Pix are kinds of their own: CPF,
// CNPJ, phone and e-mail.
func ParsePixKey(s string) (string, error) {
	if s == "" {
		return "", ErrEmpty
	}
	if len(s) != pixKeyLength {
		return "", ErrLength
	}
	normal, ok := AppendPixKey(make([]byte, 0, pixKeyLength), s)
	if !ok {
		return "", ErrPixKey
	}
	return string(normal), nil
}

// AppendPixKey appends the normal form of s, if it is a random Pix key.
func AppendPixKey[T string | []byte](dst []byte, s T) ([]byte, bool) {
	if len(s) != pixKeyLength || s[14] != '4' ||
		s[19]|0x20 != 'a' && s[19]|0x20 != 'b' && s[19] != '8' && s[19] != '9' {
		return dst, false
	}
	for i := range pixKeyLength {
		c := s[i]
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return dst, false
			}
		case c >= 'A' && c <= 'F':
			c += 'a' - 'A'
		case !isASCIIDigit(c) && (c < 'a' || c > 'f'):
			return dst, false
		}
		dst = append(dst, c)
	}
	return dst, true
}

// Card numbers have 12 to 19 digits (ISO/IEC 7812), with at most a separator between each two.
const (
	cardShortest = 12
	cardDigits   = 19
	cardLongest  = 2*cardDigits - 1
)

// ParseCard reads a payment card number of 12 to 19 digits, single spaces or hyphens between digits allowed, and
// returns the digits.
func ParseCard(s string, check CheckDigits) (string, error) {
	if s == "" {
		return "", ErrEmpty
	}
	if len(s) > cardLongest {
		return "", ErrLength
	}
	digits, err := joinDigits(make([]byte, 0, cardLongest), s, " -")
	if err != nil {
		return "", err
	}
	if len(digits) < cardShortest || len(digits) > cardDigits {
		return "", ErrLength
	}
	if check == Required && !IsLuhnValid(digits) {
		return "", ErrCheckDigits
	}
	return string(digits), nil
}

// IsLuhnValid says whether digits, which must be ASCII digits, end in the right check digit. It does not allocate.
// Eight digits go at once, from the last one on.
func IsLuhnValid[T string | []byte](digits T) bool {
	sum, n := 0, len(digits)
	for ; n >= 8; n -= 8 {
		word := loadEight(digits, n-8)
		if !eightDigits(word) {
			return false
		}
		sum += sumLuhnWord(word - '0'*ones)
	}
	first := uint64(0) // what is left of them, behind zeros
	for i := range n {
		if !isASCIIDigit(digits[i]) {
			return false
		}
		first |= uint64(digits[i]-'0') << (8 * (8 - n + i))
	}
	return len(digits) > 0 && (sum+sumLuhnWord(first))%10 == 0
}

// sumLuhnWord adds up the digits of a word, the last of which is in its top byte. Each other one, from the first on,
// counts twice, less nine where that has two digits.
func sumLuhnWord(word uint64) int {
	const low, lowest = 0x00ff00ff00ff00ff, 0x0001000100010001
	doubled := word & low
	over := (doubled + (0x80-5)*lowest) >> 7 & lowest // those that are five or more
	return int((2*doubled - 9*over + word>>8&low) * lowest >> 48)
}
