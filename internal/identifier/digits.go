package identifier

// elevenComplement is the check digit of a weighted sum, in the way CPF and CNPJ share.
func elevenComplement(sum int) int {
	if r := sum % 11; r >= 2 {
		return 11 - r
	}
	return 0
}

func isDigit(c byte) bool { return c-'0' <= 9 }

func allDigits[T string | []byte](s T) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return true
}

func repeated[T string | []byte](s T) bool {
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
		if isDigit(c) {
			dst = append(dst, c)
			continue
		}
		if i == 0 || i == len(s)-1 || !isDigit(s[i-1]) || !isDigit(s[i+1]) || !contains(seps, c) {
			return nil, ErrCharacter
		}
	}
	return dst, nil
}

func contains(set string, c byte) bool {
	for i := range len(set) {
		if set[i] == c {
			return true
		}
	}
	return false
}
