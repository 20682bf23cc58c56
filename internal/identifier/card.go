package identifier

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
