package scan

import "github.com/vigiahq/vigia/internal/identifier"

// card emits n, which stands by itself, if a payment network could have issued it.
func (s *Scanner) card(n []byte, from, to int) {
	if issued(n) {
		s.emit(identifier.Card, n, from, to)
	}
}

// issued says whether a payment network could have issued n.
func issued(n []byte) bool {
	return network(n) && identifier.Luhn(n) && !repeats(n) && !(len(n) == bareCNPJ && identifier.ValidCNPJ(n))
}

// network says whether a payment network numbers its cards this way. The check digit alone lets every tenth number
// pass.
func network(n []byte) bool {
	if len(n) < 12 {
		return false
	}
	two := int(n[0]-'0')*10 + int(n[1]-'0')
	switch {
	case n[0] == '4':
		return len(n) == 13 || len(n) == 16 || len(n) == 19
	case two >= 51 && two <= 55, two >= 22 && two <= 27:
		return len(n) == 16
	case two == 34 || two == 37:
		return len(n) == 15
	case two == 35:
		return len(n) >= 16
	case two == 30 || two == 36 || two == 38 || two == 39:
		return len(n) == 14 || len(n) == 16 || len(n) == 19
	case n[0] == '6', two == 50, two >= 56 && two <= 58:
		return len(n) >= 12
	}
	return false
}

// repeats says whether all digits after the first six are equal: a filler, not an account.
func repeats(n []byte) bool {
	for _, c := range n[7:] {
		if c != n[6] {
			return false
		}
	}
	// 4111111111111111 is everybody's test card, and stays.
	return n[0] != '4' || n[1] != '1'
}

// The ways cards are printed: where their digits stand, up to where the last group must have ended, and the sizes of
// the groups after the first one of four. The longest comes first.
var groupings = [...]struct {
	shape, mask uint64
	rest        []int
}{
	{0b0_111_0_1111_0_1111_0_1111_0_1111, 1<<24 - 1, []int{4, 4, 4, 3}},
	{0b0_1111_0_1111_0_1111_0_1111, 1<<20 - 1, []int{4, 4, 4}},
	{0b0_11111_0_111111_0_1111, 1<<18 - 1, []int{6, 5}},
	{0b0_1111_0_111111_0_1111, 1<<17 - 1, []int{6, 4}},
}

// groupedCard reads a card printed in groups, the first of which is b[i:i+4], and returns its end, or zero. digits
// tells where digits stand from there on.
func (s *Scanner) groupedCard(b []byte, i int, digits uint64) int {
	for k := range groupings {
		g := &groupings[k]
		if digits&g.mask != g.shape {
			continue
		}
		sep, n, end := b[i+4], append(s.text[:0], b[i:i+4]...), i+4
		if sep != ' ' && sep != '-' && sep != '.' {
			return 0
		}
		same := true
		for _, size := range g.rest {
			same = same && b[end] == sep
			n, end = append(n, b[end+1:end+1+size]...), end+1+size
		}
		if !same || !network(n) || !identifier.Luhn(n) || repeats(n) {
			continue
		}
		if !leftFree(b, i) || !rightFree(b, end) && !afterCard(b, end) || grouped(b, i, end, sep) {
			return 0
		}
		s.emit(identifier.Card, n, i, end)
		return end
	}
	return 0
}

// spacedCard reads a card in groups of four with two spaces between them, and returns its end, or zero.
func (s *Scanner) spacedCard(b []byte, i int) int {
	const length = 4*4 + 3*2
	if i+length > len(b) || !leftFree(b, i) || !rightFree(b, i+length) {
		return 0
	}
	n := s.text[:0]
	for k, c := range b[i : i+length] {
		if k%6 < 4 {
			if !isDigit(c) {
				return 0
			}
			n = append(n, c)
		} else if c != ' ' {
			return 0
		}
	}
	if !network(n) || !identifier.Luhn(n) || repeats(n) {
		return 0
	}
	s.emit(identifier.Card, n, i, i+length)
	return i + length
}

// group returns the end of a separator and exactly size digits at b[at:], or -1.
func group(b []byte, at, size int, sep byte) int {
	end := at + 1 + size
	if at >= len(b) || end > len(b) || b[at] != sep || end < len(b) && isDigit(b[end]) {
		return -1
	}
	for _, c := range b[at+1 : end] {
		if !isDigit(c) {
			return -1
		}
	}
	return end
}

// grouped says whether b[i:end] is a piece of a longer number in groups of four: one such group before it, or two
// after. A single one after it is an expiry date as often as not.
func grouped(b []byte, i, end int, sep byte) bool {
	if i >= 5 && b[i-1] == sep && isDigit(b[i-2]) && isDigit(b[i-3]) && isDigit(b[i-4]) && isDigit(b[i-5]) && (i == 5 || !isDigit(b[i-6])) {
		return true
	}
	next := group(b, end, 4, sep)
	return next > 0 && group(b, next, 4, sep) > 0
}
