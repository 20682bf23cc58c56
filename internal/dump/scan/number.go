package scan

import (
	"math/bits"

	"github.com/vigiahq/vigia/internal/dump/scan/record"
)

// longestRun is more digits than anything looked for has.
const longestRun = record.MostDigits + 1

// numbers reads the numbers that begin in b[from:limit], a stretch that is marked, leaving out what begins before
// b[done]. It returns where what it read ends.
//
// The marks tell, for 48 bytes at once, where something with the rhythm of a CPF, a phone or a card begins. Dates,
// prices, addresses and counters, of which dumps are full, have dropped out there without a branch of their own. A run
// of digits counts where it begins, so that of two pieces of a stream only one has it. done is where what was read or
// refused so far ends.
func (s *finder) numbers(b []byte, from, limit, done int) int {
	for first := 0; first < steps; first += 4 {
		four := (*[4]uint64)(s.marks.places[first:])
		if four[0]|four[1]|four[2]|four[3] == 0 { // as in most of a text with little in it
			continue
		}
		for n, places := range four {
			for ; places != 0; places &= places - 1 {
				at := (first+n)*step + bits.TrailingZeros64(places)
				i := from + at
				if i >= limit {
					return done
				}
				if i < done {
					continue
				}
				j := i + bits.TrailingZeros64(^s.marks.digits.bitsAt(at))
				for j-i >= longestRun && j < len(b) && isDigit(b[j]) { // goes on beyond the bits
					j++
				}
				// The place may lie inside its run, if its first group is longer than four.
				for k := 0; i > 0 && isDigit(b[i-1]) && k < longestRun; k++ {
					i--
				}
				if i >= 1 && b[i-1] == '%' && j-i > 2 {
					i += 2 // %20 and the like
				}
				done = s.number(b, i, j)
			}
		}
	}
	return done
}

// number reads the number of which the digits b[i:j] are a group, and returns where to go on.
func (s *finder) number(b []byte, i, j int) int {
	if j-i >= longestRun {
		return j
	}
	isOpen := j < len(b) && inGap[b[j]]
	if j-i == 3 && isOpen && i+14 <= len(b) && b[j] == '.' && b[i+7] == '.' && b[i+11] == '-' && s.dottedCPF(b, i) {
		s.taken = i + 14
		return i + 14
	}
	if isOpen && j-i <= 3 && b[j] == '.' {
		if end := s.network(b, i); end > 0 {
			return end
		}
	}
	if !isOpen && (i == 0 || !inGap[b[i-1]]) { // alone, as most are
		if j-i > 9 || j-i > 7 && !partOfWord(b, i, j) {
			s.bare(b, i, j)
		}
		return j
	}
	first, last := mostGroups, mostGroups+1
	s.groups[first] = group{i, j}
	for at, ok := groupBefore(b, i); ok && first > 0 && at.from >= s.taken; at, ok = groupBefore(b, at.from) {
		first--
		s.groups[first] = at
	}
	for at, ok := groupAfter(b, j); ok && last < len(s.groups); at, ok = groupAfter(b, at.to) {
		s.groups[last] = at
		last++
	}
	groups, anchor := s.groups[first:last], mostGroups-first
	if len(groups) > mostGroups+1 && isList(groups) {
		return groups[len(groups)-1].to
	}
	if len(groups) > 1 {
		if end := s.grouped(b, groups, anchor); end > 0 {
			s.taken = end
			return end
		}
	}
	if slip(b, i, j) || j-i > 7 && (j-i > 9 || !partOfWord(b, i, j)) && s.bare(b, i, j) || len(groups) == 1 {
		return j
	}
	return s.loose(b, groups, j)
}

// dottedCPF reads 529.982.247-25, as most are written.
func (s *finder) dottedCPF(b []byte, i int) bool {
	t := b[i : i+14]
	n := &s.reading
	n.From, n.To, n.Plus, n.May, n.Strict, n.Loose = i, i+14, false, record.CPFKind, record.CPFKind, false
	n.Digits = append(s.text[:0], t[0], t[1], t[2], t[4], t[5], t[6], t[8], t[9], t[10], t[12], t[13])
	return digitsOnly(n.Digits) && leftFree(b, i) && (rightFree(b, i+14) || wordRight(b, i+14)) && s.addNumber(n)
}

// network reads a network address at b[i] and returns its end, or zero. One that is written as a CPF may be, and has
// the right check digits, is one if the rest of its column is.
func (s *finder) network(b []byte, i int) int {
	at := i
	for n := range 4 {
		from, value := at, 0
		for at < len(b) && at-from < 4 && isDigit(b[at]) {
			value = value*10 + int(b[at]-'0')
			at++
		}
		if at == from || value > 255 || n < 3 && (at >= len(b) || b[at] != '.') {
			return 0
		}
		at++
	}
	to := at - 1
	if !rightFree(b, to) || to-i != 14 || b[i+3] != '.' || b[i+7] != '.' || !leftFree(b, i) {
		return to
	}
	digits := append(append(append(append(s.text[:0], b[i:i+3]...), b[i+4:i+7]...), b[i+8:i+11]...), b[i+12:to]...)
	s.addNumber(&record.Number{From: i, To: to, Digits: digits, May: record.CPFKind, Loose: true, Apart: true})
	return to
}

// bare reads digits in a row, and says whether they are a number by themselves.
func (s *finder) bare(b []byte, i, j int) bool {
	n := &s.reading
	n.From, n.To, n.Digits, n.Plus, n.May, n.Strict, n.Loose = i, j, b[i:j], i > 0 &&
		b[i-1] == '+', record.AllKinds, 0, false
	if j < len(b) && b[j]|0x20 == 'e' {
		if digits, from, to := s.exponent(b, i, j); to > 0 {
			n.From, n.To, n.Digits = from, to, digits
			s.addNumber(n)
			return true
		}
	}
	switch {
	case rightFree(b, j):
	case decimalZero(b, j):
	case wordRight(b, j):
		n.May = record.CPFKind
	case afterCard(b, j):
		n.May = record.CardKind
	default:
		n.May = 0
	}
	if !leftFree(b, i) {
		if n.May &= record.CardKind; !trackLeft(b, i) {
			n.May = 0
		}
	}
	if n.May == 0 {
		return false
	}
	if n.Plus {
		if n.From--; record.Brazilian(n.Digits) {
			n.May, n.Strict = record.PhoneKind, record.PhoneKind
		}
	}
	s.addNumber(n)
	return true
}

// slip reports whether b[i:j] is a block of the digits that a payment slip is typed by: 23793.38128 60000.000003
// 00000.000405 1 84340000010000, or four times twelve digits.
func slip(b []byte, i, j int) bool {
	switch j - i {
	case 12:
		return i > 12 && b[i-1] == ' ' && digitsOnly(b[i-13:i-1]) ||
			j+13 <= len(b) && b[j] == ' ' && digitsOnly(b[j+1:j+13])
	case 14:
		return i > 4 && b[i-1] == ' ' && isDigit(b[i-2]) && b[i-3] == ' ' && isDigit(b[i-4])
	}
	return false
}

// exponent reads 5,2998224725E+10, whose digits after the mark are b[i:j]. Digits that the spreadsheet left out are
// zeros. It returns them and where all of it is, or zeros if it is nothing of the kind.
func (s *finder) exponent(b []byte, i, j int) (digits []byte, from, to int) {
	if i < 2 || b[i-1] != ',' && b[i-1] != '.' || !isDigit(b[i-2]) || b[i-2] == '0' || i > 2 && !leftFree(b, i-2) {
		return nil, 0, 0
	}
	end := j + 1
	if end < len(b) && b[end] == '+' {
		end++
	}
	power := 0
	for start := end; end < len(b) && end < start+2 && isDigit(b[end]); end++ {
		power = power*10 + int(b[end]-'0')
	}
	if power < j-i || power > 15 || power < 8 || !rightFree(b, end) {
		return nil, 0, 0
	}
	digits = append(append(s.text[:0], b[i-2]), b[i:j]...)
	for len(digits) <= power {
		digits = append(digits, '0')
	}
	return digits, i - 2, end
}
