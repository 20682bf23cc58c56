package identifier

import (
	"github.com/nyaruka/phonenumbers"
)

const (
	phoneLongest  = 32 // characters as written; E.164 holds 15 digits
	phoneDigits   = 15
	brazil        = "55"
	landlineBR    = 10 // area code and eight digits
	mobileBR      = 11 // area code and nine digits
	firstLandline = '2'
	lastLandline  = '5'
	mobilePrefix  = '9'
)

// areaCodes marks the 67 area codes in use in Brazil.
var areaCodes = func() (known [100]bool) {
	for _, first := range []string{
		"1:123456789", "2:12478", "3:1234578",
		"4:123456789", "5:1345", "6:123456789",
		"7:134579", "8:123456789", "9:123456789",
	} {
		for _, last := range first[2:] {
			known[int(first[0]-'0')*10+int(last-'0')] = true
		}
	}
	return known
}()

// ParsePhone reads a phone number and returns it in E.164 form. Without a leading `+` it is Brazilian, with or without
// the country code; a mobile number has nine digits. Numbers of other countries need the `+`.
func ParsePhone(s string) (string, error) {
	digits, international, err := phoneText(s)
	if err != nil {
		return "", err
	}
	switch {
	case international:
		return withCountryCode(digits)
	case len(digits) == len(brazil)+landlineBR || len(digits) == len(brazil)+mobileBR:
		// The trunk prefix 0 never begins a country code, so the two readings of twelve digits do not collide.
		if digits[0] == '0' {
			return brazilian(digits[1:])
		}
		if string(digits[:2]) != brazil {
			return "", ErrCountryCode
		}
		return brazilian(digits[2:])
	case len(digits) == mobileBR && digits[0] == '0':
		return brazilian(digits[1:])
	}
	return brazilian(digits)
}

// ParsePhoneWithCountryCode reads a phone number that carries its country code, with or without a leading `+`, and
// returns it in E.164 form. Without `+`, ten or eleven digits that are a Brazilian number with its area code are that
// number: 23 area codes are also the calling code of another country, and a number written without both the `+` and
// the 55 is most likely meant for Brazil.
func ParsePhoneWithCountryCode(s string) (string, error) {
	digits, international, err := phoneText(s)
	if err != nil {
		return "", err
	}
	if !international {
		if normal, err := brazilian(digits); err == nil {
			return normal, nil
		}
	}
	return withCountryCode(digits)
}

// ParseLeakedPhone is ParsePhone for text of any age: an eight-digit Brazilian mobile, as written before the ninth
// digit came, is taken as today's number of the same person.
func ParseLeakedPhone(s string) (string, error) {
	normal, err := ParsePhone(s)
	if err == nil {
		return normal, nil
	}
	digits, _, textErr := phoneText(s)
	if textErr != nil {
		return "", err
	}
	if len(digits) > landlineBR && digits[0] == '0' {
		digits = digits[1:]
	}
	if len(digits) == len(brazil)+landlineBR && string(digits[:2]) == brazil {
		digits = digits[2:]
	}
	if old, ok := AppendBrazilianPhone(nil, digits); ok {
		return string(old), nil
	}
	return "", err
}

// AppendBrazilianPhone appends to dst the E.164 form of a Brazilian national number (area code and eight or nine
// digits, nothing else) and says whether it is one. Old eight-digit mobiles get their ninth digit. It allocates only to
// grow dst.
func AppendBrazilianPhone[T string | []byte](dst []byte, national T) ([]byte, bool) {
	if (len(national) != landlineBR && len(national) != mobileBR) || !allDigits(national) ||
		!IsAreaCode(national[0], national[1]) {
		return dst, false
	}
	first := national[2]
	if len(national) == mobileBR {
		if first != mobilePrefix {
			return dst, false
		}
		dst = append(dst, "+55"...)
		return append(dst, national...), true
	}
	if first < firstLandline {
		return dst, false
	}
	dst = append(dst, '+', '5', '5', national[0], national[1])
	if first > lastLandline {
		dst = append(dst, mobilePrefix)
	}
	return append(dst, national[2:]...), true
}

// IsAreaCode reports whether the digits a and b are a Brazilian area code.
func IsAreaCode(a, b byte) bool {
	return isASCIIDigit(a) && isASCIIDigit(b) && areaCodes[int(a-'0')*10+int(b-'0')]
}

// brazilian checks a national number by itself: the phone library takes fifty times as long.
func brazilian(national []byte) (string, error) {
	if len(national) != landlineBR && len(national) != mobileBR {
		return "", ErrLength
	}
	if !IsAreaCode(national[0], national[1]) {
		return "", ErrAreaCode
	}
	if len(national) == landlineBR && national[2] > lastLandline {
		return "", ErrNumber
	}
	normal, ok := AppendBrazilianPhone(make([]byte, 0, phoneDigits+1), national)
	if !ok {
		return "", ErrNumber
	}
	return string(normal), nil
}

// withCountryCode returns digits that begin with a country code in E.164 form. Brazilian numbers have rules of their
// own; for the rest the number must be valid in its country.
func withCountryCode(digits []byte) (string, error) {
	if string(digits[:min(2, len(digits))]) == brazil {
		return brazilian(digits[2:])
	}
	if len(digits) > phoneDigits {
		return "", ErrLength
	}
	number, err := phonenumbers.Parse("+"+string(digits), "ZZ")
	if err != nil {
		return "", ErrCountryCode
	}
	if !phonenumbers.IsValidNumber(number) {
		return "", ErrNumber
	}
	return phonenumbers.Format(number, phonenumbers.E164), nil
}

// phoneText drops the punctuation people write in phone numbers and tells whether the number began with `+`.
func phoneText(s string) (digits []byte, international bool, err error) {
	if s == "" {
		return nil, false, ErrEmpty
	}
	if len(s) > phoneLongest {
		return nil, false, ErrLength
	}
	digits = make([]byte, 0, phoneLongest)
	for i := range len(s) {
		switch c := s[i]; {
		case isASCIIDigit(c):
			digits = append(digits, c)
		case c == '+' && len(digits) == 0 && !international:
			international = true
		case c != ' ' && c != '-' && c != '.' && c != '(' && c != ')':
			return nil, false, ErrCharacter
		}
	}
	if len(digits) == 0 {
		return nil, false, ErrLength
	}
	return digits, international, nil
}
