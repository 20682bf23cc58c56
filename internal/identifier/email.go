package identifier

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Bounds of RFC 5321, in bytes.
const (
	emailLongest = 254
	localLongest = 64
)

// localSymbols are the ASCII characters besides letters, digits and dots that may stand in a local part without quotes.
const localSymbols = "!#$%&'*+-/=?^_`{|}~"

// ParseEmail reads one bare address and returns its normal form: NFC, lower case, the domain as A-labels. Dots and plus
// tags stay, since they tell people apart at most providers; Mailbox drops those of Gmail's. Quoted local parts,
// address literals and domains without a dot are refused.
func ParseEmail(s string) (string, error) {
	if s == "" {
		return "", ErrEmpty
	}
	if utf8.RuneCountInString(s) > emailLongest {
		return "", ErrLength
	}
	at := strings.LastIndexByte(s, '@')
	if at <= 0 || strings.IndexByte(s, '@') != at {
		return "", ErrAddress
	}
	local, err := parseLocal(s[:at])
	if err != nil {
		return "", err
	}
	domain, err := ParseDomain(s[at+1:])
	if err != nil {
		return "", err
	}
	if len(local)+1+len(domain) > emailLongest {
		return "", ErrLength
	}
	return local + "@" + domain, nil
}

// parseLocal returns the part before the @ in lower case and NFC. It refuses dots at the ends or in a row, and the
// characters that localRune refuses.
func parseLocal(s string) (string, error) {
	if !isASCIIText(s) {
		if !utf8.ValidString(s) {
			return "", ErrCharacter
		}
		s = norm.NFC.String(strings.ToLower(norm.NFC.String(s)))
	} else {
		s = strings.ToLower(s)
	}
	if len(s) > localLongest {
		return "", ErrLength
	}
	if s[0] == '.' || s[len(s)-1] == '.' || strings.Contains(s, "..") {
		return "", ErrAddress
	}
	for _, r := range s {
		if !localRune(r) {
			return "", ErrCharacter
		}
	}
	return s, nil
}

// localRune refuses whatever cannot be seen or would turn the reading direction: beyond ASCII only letters, marks and
// digits pass, and of those not the ones that Unicode lets a program leave blank.
func localRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r == '.' || isASCIIDigit(byte(r)) || r >= 'a' && r <= 'z' ||
			strings.IndexByte(localSymbols, byte(r)) >= 0
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.N) &&
		!unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) && r != '\u034f'
}

// isASCIIText reports whether s has nothing but ASCII.
func isASCIIText(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
