package identifier

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
