package identifier

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// Bounds of RFC 1035, in bytes.
const (
	domainLongest = 253
	labelLongest  = 63
)

// ParseDomain reads a domain name of at least two labels and returns it in lower case with A-labels.
func ParseDomain(s string) (string, error) {
	if s == "" {
		return "", ErrEmpty
	}
	if !isASCIIText(s) || hasALabel(s) {
		// The mapping of IDNA drops invisible characters without a word; here they are refused, as in the local part.
		for _, r := range s {
			if r >= utf8.RuneSelf && !localRune(r) {
				return "", ErrCharacter
			}
		}
		ascii, err := idna.Lookup.ToASCII(norm.NFC.String(s))
		if err != nil {
			return "", ErrDomain
		}
		s = ascii
	}
	s = strings.ToLower(s)
	if !ValidDomain(s) {
		return "", ErrDomain
	}
	return s, nil
}

// ValidDomain says whether s is a domain in normal form as far as its ASCII characters tell: labels of lower-case
// letters, digits and inner hyphens, at least two of them, the last one of letters only or an A-label. It does not
// allocate. It does not decode A-labels.
func ValidDomain[T string | []byte](s T) bool {
	if len(s) > domainLongest {
		return false
	}
	labels, start, letters := 0, 0, 0
	for i := 0; i <= len(s); i++ {
		if i < len(s) && s[i] != '.' {
			switch c := s[i]; {
			case c >= 'a' && c <= 'z':
				letters++
			case !isASCIIDigit(c) && c != '-':
				return false
			}
			continue
		}
		if n := i - start; n == 0 || n > labelLongest || s[start] == '-' || s[i-1] == '-' {
			return false
		}
		labels++
		if i == len(s) {
			return labels > 1 && i-start > 1 &&
				(letters == i-start || i-start > 4 && string(s[start:start+4]) == "xn--")
		}
		start, letters = i+1, 0
	}
	return false
}

// hasALabel reports whether a label begins with the mark of an encoded one, in any case.
func hasALabel(s string) bool {
	for i := 0; i+4 <= len(s); i++ {
		if (i == 0 || s[i-1] == '.') && strings.EqualFold(s[i:i+4], "xn--") {
			return true
		}
	}
	return false
}
