package record

import (
	"bytes"

	"github.com/nyaruka/phonenumbers"

	"github.com/vigiahq/vigia/internal/identifier"
)

// What it says that digits can be a phone: ten times the logarithm of how many others cannot.
const (
	areaWeight   = 6  // any area code, any first digit of a landline or an old mobile
	mobileWeight = 24 // an area code and a nine
	codeWeight   = 39 // the country's code, or a carrier's, and an area code
	abroadWeight = 4  // two zeros and a calling code in use
	strictWeight = 70 // written as nothing else is
)

// appendPhone appends the phone that the digits are, and says whether they are read as one where nothing else tells,
// and whether they are one at all. A phone without its area code has it in the field before.
func (r *Reader) appendPhone(dst []byte, number *Number, weight *uint8) (normal []byte, exact, ok bool) {
	t, zeros := number.Digits, 0
	for len(t) > 0 && t[0] == '0' {
		t, zeros = t[1:], zeros+1
	}
	if number.Plus && !Brazilian(t) {
		*weight = strictWeight
		ok = zeros == 0 && Foreign(t)
		return append(append(dst, '+'), t...), ok, ok
	}
	exact = zeros == 0 || zeros == 1 && len(t) == 11
	switch n := len(t); {
	case n == 11:
		*weight = mobileWeight
	case n == 10:
		if *weight = areaWeight; isMoment(t) {
			*weight, exact = 0, false
		}
	case Brazilian(t) && (zeros == 0 || zeros == 2):
		t, *weight = t[2:], codeWeight
	case (n == 12 || n == 13) && zeros == 1 && carrier(t[0], t[1]):
		t, *weight = t[2:], codeWeight
	case zeros == 2 && n > 8 && Foreign(t):
		*weight = abroadWeight
		return append(append(dst, '+'), t...), false, true
	case zeros == 0 && n < 10:
		var area []byte
		if t[0] == '9' || n == 8 {
			area = areaBefore(r.b, number.From)
		}
		if area == nil {
			return dst, false, false
		}
		if *weight = areaWeight; n == 9 {
			*weight = mobileWeight
		}
		var room [11]byte
		t, exact = append(append(room[:0], area...), t...), false
	}
	normal, ok = identifier.AppendBrazilianPhone(dst, t)
	return normal, exact && ok, ok
}

// Brazilian reports whether n is written with Brazil's country code.
func Brazilian(n []byte) bool {
	return (len(n) == 12 || len(n) == 13) && n[0] == '5' && n[1] == '5' && identifier.IsAreaCode(n[2], n[3])
}

// Foreign reports whether n looks like another country's number: a calling code in use and a length that fits. The
// phone library would know each country's plan, at a hundred times the cost of everything else done here for a number.
func Foreign(n []byte) bool {
	if len(n) > 15 || len(n) < 8 || n[0] == '0' || n[0] == '5' && n[1] == '5' {
		return false
	}
	if n[0] == '1' {
		return len(n) == 11 && n[1] >= '2' && n[4] >= '2'
	}
	two := int(n[0]-'0')*10 + int(n[1]-'0')
	return callingCodes[two] || callingCodes[two*10+int(n[2]-'0')]
}

// callingCodes are the country codes in use, by their digits.
var callingCodes = func() (used [1000]bool) {
	for code := range phonenumbers.GetSupportedCallingCodes() {
		used[code] = true
	}
	return used
}()

// carrier knows the codes of those who carry calls from one area to another.
func carrier(a, b byte) bool {
	return bytes.Contains(
		[]byte(
			" 12 13 14 15 16 17 18 21 23 24 25 26 27 31 32 34 35 36 37 38 41 42 43 45 46 49 53 54 56 57 58 61 62 "+
				"63 65 67 71 72 76 81 82 84 85 89 91 93 96 98 ",
		),
		[]byte{' ', a, b, ' '},
	)
}

// areaBefore returns the area code that the field before the one at b[i] consists of, or nil: in a row, a tuple, an
// object or a block, where names stand between the two.
func areaBefore(b []byte, i int) []byte {
	k, stop, letters, ends := i, max(0, i-48), false, 0
	for ; k > stop && (b[k-1] < '0' || b[k-1] > '9'); k-- {
		switch c := b[k-1]; {
		case c == '\n':
			ends++
		case c == '(' || c == '{' || c == '[':
			return nil
		case kindOf[c] == hasLetter || kindOf[c] == hasLetter|hasUpper:
			letters = true
		}
	}
	end := k
	for k > 0 && end-k < 4 && kindOf[b[k-1]] == hasDigit {
		k--
	}
	area := b[k:end]
	if len(area) == 3 && area[0] == '0' {
		area = area[1:]
	}
	if len(area) != 2 || !identifier.IsAreaCode(area[0], area[1]) || end == i || !letters && i-end > 8 || ends > 1 ||
		ends == 1 && !letters {
		return nil
	}
	if k > 0 && (kindOf[b[k-1]]&hasLetter != 0 || b[k-1] == '.' || b[k-1] == '-' || b[k-1] == '/') {
		return nil
	}
	return area
}
