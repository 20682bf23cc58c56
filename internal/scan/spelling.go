package scan

import (
	"bytes"

	"github.com/vigiahq/vigia/internal/identifier"
)

// tight judges ten to nineteen digits that touch what stands around them: what spreadsheets make of numbers, the magnetic
// tracks of cards, a state or a name right behind a CPF.
func (s *Scanner) tight(b []byte, i, j int) {
	n := b[i:j]
	if decimalZero(b, j) && leftFree(b, i) {
		s.bareNumber(b, i, j)
		return
	}
	if len(n) == 11 && wordRight(b, j) && leftFree(b, i) && identifier.ValidCPF(n) {
		s.emit(identifier.CPF, n, i, j)
		return
	}
	if len(n) >= 13 && (rightFree(b, j) || afterCard(b, j)) && (leftFree(b, i) || trackLeft(b, i)) {
		s.card(n, i, j)
	}
}

// decimalZero says whether a whole number that ends before b[j] goes on as 52998224725.0: a spreadsheet's or a data
// frame's way to write it.
func decimalZero(b []byte, j int) bool {
	if j+1 >= len(b) || b[j] != '.' || b[j+1] != '0' {
		return false
	}
	end := j + 2
	if end < len(b) && b[end] == '0' {
		end++
	}
	return end >= len(b) || class[b[end]]&(letter|digit|dot) == 0
}

// wordRight says whether letters that no hash has come right after b[:j]: a state, a name.
func wordRight(b []byte, j int) bool {
	for k := j; k < len(b) && k < j+4 && class[b[k]]&letter != 0; k++ {
		if class[b[k]]&hexOnly == 0 {
			return true
		}
	}
	return false
}

// trackLeft says whether b[i] begins the number of a first track: %B4111...
func trackLeft(b []byte, i int) bool { return i >= 2 && b[i-1]|0x20 == 'b' && b[i-2] == '%' }

// afterCard says whether what follows a card's number at b[j] is its expiry date: of a second track, where '=' was
// written as D, or of a list.
func afterCard(b []byte, j int) bool {
	if j+4 < len(b) && b[j]|0x20 == 'd' && isDigit(b[j+1]) && isDigit(b[j+2]) && month(b[j+3], b[j+4]) {
		return true
	}
	if j+5 >= len(b) || b[j] != '-' && b[j] != '.' || b[j+3] != b[j] || !month(b[j+1], b[j+2]) || !isDigit(b[j+4]) || !isDigit(b[j+5]) {
		return false
	}
	end := j + 6
	if end+1 < len(b) && isDigit(b[end]) && isDigit(b[end+1]) {
		end += 2
	}
	return end >= len(b) || !isDigit(b[end])
}

func month(tens, ones byte) bool {
	return tens == '0' && ones >= '1' && ones <= '9' || tens == '1' && ones >= '0' && ones <= '2'
}

// exponent reads 5,2998224725E+10, whose digits after the mark are b[i:j], and returns where it ends, or zero if it is
// nothing of the kind. Digits that the spreadsheet left out are zeros.
func (s *Scanner) exponent(b []byte, i, j int) int {
	if i < 2 || b[i-1] != ',' && b[i-1] != '.' || !isDigit(b[i-2]) || b[i-2] == '0' || i > 2 && !leftFree(b, i-2) {
		return 0
	}
	end := j + 1
	if end < len(b) && b[end] == '+' {
		end++
	}
	power := 0
	for from := end; end < len(b) && end < from+2 && isDigit(b[end]); end++ {
		power = power*10 + int(b[end]-'0')
	}
	if power < j-i || power > 15 || power < 8 || !rightFree(b, end) {
		return 0
	}
	n := append(append(s.text[64:64], b[i-2]), b[i:j]...)
	for len(n) <= power {
		n = append(n, '0')
	}
	switch {
	case len(n) == 11 && identifier.ValidCPF(n):
		s.emit(identifier.CPF, n, i-2, end)
	case len(n) < 11 && s.label(b, i-2) == cpfWord:
		s.paddedCPF(n, i-2, end)
	case len(n) < 12 && s.label(b, i-2) == phoneWord:
		s.phone(n, i-2, end)
	case brazilian(n):
		s.phone(n[2:], i-2, end)
	case len(n) >= 14:
		s.card(n, i-2, end)
	}
	return end
}

// paddedCPF emits a CPF that lost its leading zeros, or has some too many. It is for where something says that it is one.
func (s *Scanner) paddedCPF(n []byte, from, to int) bool {
	cpf, ok := unpadded(s.text[32:32], n)
	if ok {
		s.emit(identifier.CPF, cpf, from, to)
	}
	return ok
}

// unpadded appends the CPF that n stands for, if it is one with zeros too few or too many.
func unpadded(dst, n []byte) ([]byte, bool) {
	for len(n) > 11 && n[0] == '0' {
		n = n[1:]
	}
	if len(n) > 11 || len(n) < 8 {
		return dst, false
	}
	dst = append(append(dst, "000"[:11-len(n)]...), n...)
	return dst, identifier.ValidCPF(dst)
}

// labelled reads what a label next to bare digits says they are, if they would be nothing without it: CPFs and cards
// with zeros too few or too many, phones with two zeros or a carrier before them. It says whether they were that.
func (s *Scanner) labelled(b []byte, i, j int) bool {
	n := b[i:j]
	switch s.label(b, i) {
	case cpfWord:
		return len(n) != 11 && s.paddedCPF(n, i, j)
	case phoneWord:
		if national, ok := prefixedPhone(n); ok {
			s.phone(national, i, j)
			return true
		}
		if len(n) > 10 && n[0] == '0' && n[1] == '0' && foreign(n[2:]) {
			s.emit(identifier.Phone, append(append(s.text[:0], '+'), n[2:]...), i, j)
			return true
		}
	case cardWord:
		if n[0] == '0' {
			s.card(bytes.TrimLeft(n, "0"), i, j)
			return true
		}
	case noWord, otherWord, numberWord:
	}
	return false
}

// prefixedPhone returns the national number of 005511987654321 and of 01511987654321, with a carrier's code.
func prefixedPhone(n []byte) ([]byte, bool) {
	switch {
	case (len(n) == 14 || len(n) == 15) && n[0] == '0' && n[1] == '0' && brazilian(n[2:]):
		return n[4:], true
	case (len(n) == 13 || len(n) == 14) && n[0] == '0' && carrier(n[1], n[2]) && identifier.AreaCode(n[3], n[4]) && (len(n) == 13 || n[5] == '9'):
		return n[3:], true
	}
	return nil, false
}

// carrier knows the codes of those who carry calls from one area to another.
func carrier(a, b byte) bool {
	switch string([]byte{a, b}) {
	case "12", "13", "14", "15", "16", "17", "18", "21", "23", "24", "25", "26", "27", "31", "32", "34", "35", "36", "37", "38", "41", "42", "43", "45", "46", "49", "53", "54", "56", "57", "58",
		"61", "62", "63", "65", "67", "71", "72", "76", "81", "82", "84", "85", "89", "91", "93", "96", "98":
		return true
	}
	return false
}

// quotedEmail reads "maria.silva"@exemplo.com, the '@' of which stands at b[at]: the quotes say nothing where none are
// needed. Inside of other quotes they are doubled, or have a backslash before them.
func (s *Scanner) quotedEmail(b []byte, at, after int) {
	to := at - 1
	if b[to-1] == '"' || b[to-1] == '\\' {
		to--
	}
	from := to
	for from > 0 && to-from <= localLongest && class[b[from-1]]&inLocal != 0 {
		from--
	}
	if from > 0 && b[from-1] == '"' && from < to {
		end := after
		for end < len(b) && end-after <= domainLongest && class[b[end]]&inDomain != 0 {
			end++
		}
		s.plainEmail(b[from:to], b[after:end], from-1, after)
	}
}

// spacedForeign reads another country's number in groups, of which that at b[i] is one: +351 912 345 678. It returns its
// end, or zero.
func (s *Scanner) spacedForeign(b []byte, i int) int {
	k := i
	for k > 0 && i-k < 12 && (isDigit(b[k-1]) || phoneGap[b[k-1]] || b[k-1] == '(' || b[k-1] == ')') {
		k--
	}
	if k == 0 || b[k-1] != '+' {
		return 0
	}
	n, end := foreignGroups(b, k-1)
	if end <= i {
		return 0
	}
	s.emit(identifier.Phone, append(append(s.text[:0], '+'), n...), k-1, end)
	return end
}

// foreignGroups reads a number in groups after the plus sign at b[i], and returns its digits and its end, or zero.
func foreignGroups(b []byte, i int) (digits []byte, end int) {
	var room [e164Longest]byte
	digits = room[:0]
	gaps, gap := 0, 0
	for at := i + 1; at < len(b) && at < i+32; at++ {
		switch c := b[at]; {
		case isDigit(c):
			if len(digits) == cap(digits) {
				return nil, 0
			}
			if gap > 0 {
				gaps++
			}
			digits, gap, end = append(digits, c), 0, at+1
			continue
		case (phoneGap[c] || c == '(' || c == ')') && gap < 2:
			gap++
			continue
		}
		break
	}
	if len(digits) < 8 || gaps == 0 || !foreign(digits) || !rightFree(b, end) {
		return nil, 0
	}
	return digits, end
}
