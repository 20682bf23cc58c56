package identifier

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
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

// Spellings is a set of the ways in which the address of a Gmail mailbox is written; empty for any other address. Gmail
// does not look at dots and at what follows a plus sign, and googlemail.com is gmail.com.
type Spellings uint8

// How an address is written: each of the eight ways is a bit of Spellings, by the number that these make.
const (
	withDots = 1 << iota
	withTag
	googlemail
)

// gmailDomains name one service: mail to either reaches the same mailbox.
var gmailDomains = [...][]byte{[]byte("@gmail.com"), []byte("@googlemail.com")}

// gmailEnd is what both end with.
const gmailEnd = "mail.com"

// AppendMailbox appends to dst what stands for every spelling of the Gmail mailbox of an address in its normal form,
// and tells how this one is spelled. An address that is not Gmail's, or that is quoted, stands for itself: it is
// returned as it is.
func AppendMailbox(dst, normal []byte) ([]byte, Spellings) {
	if len(normal) < len(gmailEnd) || string(normal[len(normal)-len(gmailEnd):]) != gmailEnd {
		return normal, 0 // as most are
	}
	for i, domain := range gmailDomains {
		local, ok := bytes.CutSuffix(normal, domain)
		if !ok || len(local) == 0 || local[0] == '"' {
			continue
		}
		way, from := i*googlemail, len(dst)
		if plus := bytes.IndexByte(local, '+'); plus >= 0 {
			way, local = way|withTag, local[:plus]
		}
		for _, c := range local {
			if c == '.' {
				way |= withDots
				continue
			}
			dst = append(dst, c)
		}
		if len(dst) == from { // nothing is left: no mailbox of theirs
			break
		}
		return append(dst, gmailDomains[0]...), 1 << way
	}
	return normal, 0
}

// MatchForm returns what a value is looked for by: its normal form, or what stands for its mailbox.
func MatchForm(k Kind, normal string) []byte {
	if k != Email {
		return []byte(normal)
	}
	form, _ := AppendMailbox(nil, []byte(normal))
	return form
}

// SpellingOf tells how an address in its normal form is spelled.
func SpellingOf(normal string) Spellings {
	_, s := AppendMailbox(nil, []byte(normal))
	return s
}

// MaskedSpellings shows the spellings without the letters: "***.***+***@gmail.com".
func (s Spellings) MaskedSpellings() []string {
	var list []string
	for way := range 8 {
		if s&(1<<way) == 0 {
			continue
		}
		mask := hidden
		if way&withDots != 0 {
			mask += "." + hidden
		}
		if way&withTag != 0 {
			mask += "+" + hidden
		}
		list = append(list, mask+string(gmailDomains[way/googlemail]))
	}
	return list
}

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

// cepDigits is the length of a Brazilian postal code.
const cepDigits = 8

// states are the 26 states of Brazil and the federal district.
var states = []string{
	"AC",
	"AL",
	"AM",
	"AP",
	"BA",
	"CE",
	"DF",
	"ES",
	"GO",
	"MA",
	"MG",
	"MS",
	"MT",
	"PA",
	"PB",
	"PE",
	"PI",
	"PR",
	"RJ",
	"RN",
	"RO",
	"RR",
	"RS",
	"SC",
	"SE",
	"SP",
	"TO",
}

// ParseState reads the two capital letters of a Brazilian state.
func ParseState(s string) (string, error) {
	if s == "" {
		return "", ErrEmpty
	}
	if !slices.Contains(states, s) {
		return "", ErrState
	}
	return s, nil
}

// ParseCEP reads a postal code of eight digits and nothing else.
func ParseCEP(s string) (string, error) {
	if s == "" {
		return "", ErrEmpty
	}
	if !allDigits(s) {
		return "", ErrCharacter
	}
	if len(s) != cepDigits {
		return "", ErrLength
	}
	return s, nil
}
