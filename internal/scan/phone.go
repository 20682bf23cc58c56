package scan

import (
	"github.com/nyaruka/phonenumbers"

	"github.com/vigiahq/vigia/internal/identifier"
)

const e164Longest = 15

// phone emits a Brazilian national number of ten or eleven digits, if it is one.
func (s *Scanner) phone(national []byte, from, to int) {
	if normal, ok := identifier.AppendBrazilianPhone(s.text[:0], national); ok {
		s.emit(identifier.Phone, normal, from, to)
	}
}

// brazilian says whether n is written with Brazil's country code.
func brazilian(n []byte) bool {
	return (len(n) == 12 || len(n) == 13) && n[0] == '5' && n[1] == '5' && identifier.AreaCode(n[2], n[3])
}

// foreign says whether n, which stood after a plus sign, looks like another country's number: a calling code in use and
// a length that fits. The phone library would know each country's plan, at a hundred times the cost of everything else
// done here for a number.
func foreign(n []byte) bool {
	if len(n) > e164Longest || n[0] == '0' || n[0] == '5' && n[1] == '5' {
		return false
	}
	if n[0] == '1' {
		return len(n) == 11 && n[1] >= '2' && n[4] >= '2'
	}
	two := int(n[0]-'0')*10 + int(n[1]-'0')
	return callingCodes[two] || callingCodes[two*10+int(n[2]-'0')]
}

var callingCodes = func() (used [1000]bool) {
	for code := range phonenumbers.GetSupportedCallingCodes() {
		used[code] = true
	}
	return used
}()

// bareTen says whether ten bare digits are to be read as a phone: landlines and old mobiles look like any number of ten
// digits. What stands next to them decides; else they pass unless they read as a Unix time of the years 2008 to 2027,
// which dumps are full of, or as the last one of all.
func bareTen(word word, n []byte) bool {
	switch word {
	case phoneWord:
		return true
	case noWord:
		return (n[0] != '1' || n[1] < '2' || n[1] > '7') && string(n) != "2147483647"
	default:
		return false
	}
}

// splitPhone reads a phone from the first long group of its subscriber number, b[i:j] of four, five, eight or nine
// digits; the area code stands to the left, parted from it. After four or five come one other character and just four
// more digits.
func (s *Scanner) splitPhone(b []byte, i, j int) int {
	end := j
	if j-i <= 5 {
		if end = j + 5; !phoneGap[b[j]] {
			return j
		}
	}
	if !rightFree(b, end) {
		return j
	}
	area, ok := areaLeft(b, i)
	if !ok {
		if end := s.spacedForeign(b, i); end > 0 {
			return end
		}
		if s.weighs() && end > j {
			s.apartPhone(b, append(append(s.text[80:80], b[i:j]...), b[j+1:end]...), i, end)
		}
		return j
	}
	n := append(s.text[64:64], area.digits[0], area.digits[1])
	if area.ninth {
		n = append(n, '9')
	}
	n = append(n, b[i:j]...)
	if end > j {
		n = append(n, b[j+1:end]...)
	}
	if !s.plausible(b, i, j, area) {
		s.weakPhone(n, area.start, end)
		return j
	}
	if normal, ok := identifier.AppendBrazilianPhone(s.text[:0], n); ok {
		s.emit(identifier.Phone, normal, area.start, end)
		return end
	}
	return j
}

// plausible refuses what has the shape of a phone but is more likely something else, when nothing but a two-digit
// number stands before it.
func (s *Scanner) plausible(b []byte, i, j int, area area) bool {
	if area.marked || area.ninth || s.label(b, area.start) == phoneWord {
		return true
	}
	switch j - i {
	case 4:
		years := (b[i] == '1' && b[i+1] == '9' || b[i] == '2' && b[i+1] == '0') && (b[j+1] == '1' || b[j+1] == '2')
		return (b[j] == '-' || b[j] == '.' && b[i-1] == '.') && !years
	case 8:
		return false // 11 20240131
	}
	return true
}

// joinedPhone reads 1198765-4321, and 113456-7890 where a label says that it is a phone. A hyphen and just four digits
// follow b[i:j].
func (s *Scanner) joinedPhone(b []byte, i, j int) int {
	end := j + 5
	if !leftFree(b, i) || !rightFree(b, end) {
		return j
	}
	if j-i == 6 && s.label(b, i) != phoneWord {
		return j
	}
	n := append(append(s.text[64:64], b[i:j]...), b[j+1:end]...)
	if normal, ok := identifier.AppendBrazilianPhone(s.text[:0], n); ok {
		s.emit(identifier.Phone, normal, i, end)
		return end
	}
	return j
}

// phoneGap has the characters that part the groups of a phone number.
var phoneGap = [256]bool{'-': true, ' ': true, '.': true}

// area is the area code found to the left of a subscriber number.
type area struct {
	digits []byte
	start  int  // where the whole number begins
	marked bool // in parentheses, or after the country code, or with the trunk 0
	ninth  bool // the ninth digit stood apart: (11) 9 8765-4321
}

// areaLeft reads the area code that ends before b[i], with what may stand before it: +55, 55, a trunk 0, a carrier,
// parentheses.
func areaLeft(b []byte, i int) (a area, ok bool) {
	k := gapLeft(b, i)
	if k == i && k > 0 && b[k-1] == '/' {
		k--
	}
	if k == i && (k == 0 || b[k-1] != ')' && b[k-1] != ']') {
		return a, false
	}
	if k >= 2 && k < i && b[k-1] == '9' && !isDigit(b[k-2]) {
		if apart := gapLeft(b, k-1); apart < k-1 || b[k-2] == ')' {
			a.ninth, k = true, apart
		}
	}
	opened := byte(0)
	if k > 0 && b[k-1] == ')' {
		opened = '('
		k--
	} else if k > 0 && b[k-1] == ']' {
		opened = '['
		k--
	}
	from := k
	for from > 0 && k-from < 6 && isDigit(b[from-1]) {
		from--
	}
	code, from := a.trunk(b, from, k)
	if code == nil || !identifier.AreaCode(code[0], code[1]) {
		return a, false
	}
	if opened != 0 {
		if from == 0 || b[from-1] != opened {
			return a, false
		}
		from--
		a.marked = true
	}
	if b[from] != '(' && k < i && b[k] == '/' && from > 0 && (b[from-1] == '/' || b[from-1] == '-' || b[from-1] == '.') {
		return a, false // a date
	}
	a.digits, a.start = code, from
	return a, a.countryLeft(b)
}

// trunk takes off b[from:k] what is dialled before an area code: 0, 015, 0xx, 55. It returns the code and where all of it
// begins, or nil.
func (a *area) trunk(b []byte, from, k int) (code []byte, start int) {
	code = b[from:k]
	switch len(code) {
	case 2:
		if from >= 3 && b[from-1]|0x20 == 'x' && b[from-2]|0x20 == 'x' && b[from-3] == '0' {
			a.marked = true
			return code, from - 3
		}
		return code, from
	case 3:
		if code[0] == '0' {
			a.marked = true
			return code[1:], from
		}
	case 4:
		if code[0] == '5' && code[1] == '5' && (k >= len(b) || b[k] != ')') {
			a.marked = true
			if from > 0 && b[from-1] == '+' {
				from--
			}
			return code[2:], from
		}
	case 5:
		if code[0] == '0' && carrier(code[1], code[2]) {
			a.marked = true
			return code[3:], from
		}
	case 6:
		if string(code[:4]) == "0055" && (from == 0 || !isDigit(b[from-1])) {
			a.marked = true
			return code[4:], from
		}
	}
	return nil, from
}

// countryLeft moves the start over the country code or a carrier's, and says whether the number is free of anything else
// on its left.
func (a *area) countryLeft(b []byte) bool {
	k := gapLeft(b, a.start)
	if k >= 4 && string(b[k-4:k]) == "0055" && leftFree(b, k-4) {
		a.start, a.marked = k-4, true
		return true
	}
	if k >= 2 && b[k-1] == '5' && b[k-2] == '5' && (k == 2 || !isDigit(b[k-3])) && (k < a.start || b[a.start] == '(' || b[a.start] == '[') {
		plus := k >= 3 && b[k-3] == '+'
		if plus || leftFree(b, k-2) {
			a.start, a.marked = k-2, true
			return true
		}
	}
	if k >= 3 && k < a.start && b[k-3] == '0' && carrier(b[k-2], b[k-1]) && leftFree(b, k-3) && b[a.start] != '0' {
		a.start, a.marked = k-3, true
		return true
	}
	if a.start > 0 && b[a.start-1] == '+' && b[a.start] != '5' {
		return false // another country's code
	}
	return (b[a.start] == '(' || b[a.start] == '[') && (a.start == 0 || !isDigit(b[a.start-1])) || leftFree(b, a.start)
}

// gapLeft moves back over at most two characters that part the groups of a phone number.
func gapLeft(b []byte, k int) int {
	for n := 0; n < 2 && k > 0 && phoneGap[b[k-1]]; n++ {
		k--
	}
	return k
}
