package identifier

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
	if check == Required && !Luhn(digits) {
		return "", ErrCheckDigits
	}
	return string(digits), nil
}

// luhnDouble is the digit sum of twice a digit.
var luhnDouble = [10]byte{0, 2, 4, 6, 8, 1, 3, 5, 7, 9}

// Luhn says whether digits, which must be ASCII digits, end in the right check digit. It does not allocate.
func Luhn[T string | []byte](digits T) bool {
	sum, double := 0, false
	for i := len(digits) - 1; i >= 0; i-- {
		d := digits[i] - '0'
		if d > 9 {
			return false
		}
		if double {
			d = luhnDouble[d]
		}
		sum += int(d)
		double = !double
	}
	return len(digits) > 0 && sum%10 == 0
}
