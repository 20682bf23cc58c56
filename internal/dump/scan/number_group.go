package scan

import "github.com/vigiahq/vigia/internal/dump/scan/record"

// group is digits that stand together.
type group struct{ from, to int }

// size returns how many digits the group has.
func (g group) size() int { return g.to - g.from }

// mostGroups is how many groups are looked at to either side of one.
const mostGroups = 5

// isList reports whether groups are a list of small numbers: all as long as the first.
func isList(groups []group) bool {
	for _, g := range groups {
		if g.size() > 4 || g.size() != groups[0].size() {
			return false
		}
	}
	return true
}

// inGap are the characters that part the groups of a number.
var inGap = [256]bool{
	' ': true,
	'-': true,
	'.': true,
	'/': true,
	'(': true,
	')': true,
	'[': true,
	']': true,
	'+': true,
	'_': true,
	'*': true,
	'x': true,
	'X': true,
}

// widestGap is how many characters may part the groups of one number.
const widestGap = 3

// groupBefore returns the group of digits that ends before i with a short gap between. It is false if there is none or
// the digits are too many for a number of ours.
func groupBefore(b []byte, i int) (group, bool) {
	k := i
	for k > 0 && i-k < widestGap && inGap[b[k-1]] {
		k--
	}
	end := k
	for k > 0 && end-k < longestRun && isDigit(b[k-1]) {
		k--
	}
	return group{k, end}, end < i && k < end && end-k < longestRun
}

// groupAfter is groupBefore in the other direction: the group that begins after j.
func groupAfter(b []byte, j int) (group, bool) {
	k := j
	for k < len(b) && k-j < widestGap && inGap[b[k]] {
		k++
	}
	start := k
	for k < len(b) && k-start < longestRun && isDigit(b[k]) {
		k++
	}
	return group{start, k}, start > j && k > start && k-start < longestRun
}

// grouped reads the longest stretch of groups with the one at anchor in it that is written as identifiers are, and
// returns its end, or zero.
func (s *finder) grouped(b []byte, groups []group, anchor int) int {
	for size := len(groups); size > 1; size-- {
		for first := max(0, anchor-size+1); first <= anchor && first+size <= len(groups); first++ {
			if end := s.shaped(b, groups[first:first+size]); end > 0 {
				return end
			}
		}
	}
	return 0
}

// shaped reads groups, if they are those of an identifier, and returns where it ends, or zero.
func (s *finder) shaped(b []byte, groups []group) int {
	from, to := groups[0].from, groups[len(groups)-1].to
	digits, shape := s.text[:0], shapeHash(0)
	if from > 0 && (b[from-1] == '+' || b[from-1] == '(' || b[from-1] == '[') {
		from--
		shape = shape.add(gapByte[b[from]])
	}
	for i, g := range groups {
		if len(digits)+g.size() >= longestRun {
			return 0
		}
		if i > 0 {
			shape = shape.addGap(b[groups[i-1].to:g.from])
		}
		shape = shape.add('0' + byte(g.size()))
		digits = append(digits, b[g.from:g.to]...)
	}
	if len(digits) < 10 {
		return 0
	}
	n := &s.reading
	n.From, n.To, n.Digits, n.Plus = from, to, digits, b[from] == '+'
	said := shapeOfGroups(shape)
	isFree := rightFree(b, to)
	switch {
	case said == 0:
		if !n.Plus || !record.Foreign(digits) {
			return 0
		}
		n.Strict = record.PhoneKind
	case said&record.CardKind != 0:
		if isFree = isFree || afterCard(b, to); inFours(b, from, to, b[groups[0].to]) {
			return 0
		}
		n.Strict = record.CardKind
	case said&record.CPFKind != 0:
		isFree = isFree || wordRight(b, to)
		n.Strict = record.CPFKind
	default:
		if len(groups) == 3 && groups[1].size() == 4 && groups[0].size() == 2 &&
			years(b[groups[1].from:], b[groups[2].from]) &&
			!n.Plus &&
			b[from] != '(' {
			return 0
		}
		n.Strict = record.PhoneKind
	}
	n.May, n.Loose = n.Strict, said&looseShape != 0
	if !isFree || b[from] != '+' && b[from] != '(' && b[from] != '[' && !leftFree(b, from) ||
		n.Plus && from > 0 && isDigit(b[from-1]) ||
		!s.addNumber(n) {
		return 0
	}
	return to
}

// years reports whether two groups of four digits are two years.
func years(first []byte, second byte) bool {
	return (first[0] == '1' && first[1] == '9' || first[0] == '2' && first[1] == '0') &&
		(second == '1' || second == '2')
}

// inFours reports whether a card in groups is a piece of a longer number in groups of four: one such group before it,
// or two after. A single one after it is an expiry date as often as not.
func inFours(b []byte, from, to int, sep byte) bool {
	four := func(at int) bool { // a separator and four digits, no more
		return at >= 0 && at+5 <= len(b) && b[at] == sep && digitsOnly(b[at+1:at+5]) &&
			(at+5 == len(b) || !isDigit(b[at+5]))
	}
	return from > 5 && b[from-1] == sep && digitsOnly(b[from-5:from-1]) && !isDigit(b[from-6]) ||
		from == 5 && b[4] == sep && digitsOnly(b[:4]) ||
		four(to) && four(to+5)
}

// loose reads all groups as one number, of which only its column can tell what it is, and returns where to go on.
func (s *finder) loose(b []byte, groups []group, j int) int {
	digits, short, from, to := s.text[:0], 0, groups[0].from, groups[len(groups)-1].to
	for _, g := range groups {
		if len(digits)+g.size() >= longestRun {
			return j
		}
		if g.size() < 4 {
			short++
		}
		digits = append(digits, b[g.from:g.to]...)
	}
	isFraction := len(groups) == 2 && short > 0 && b[groups[0].to] == '.'
	isDate := len(groups) == 3 && len(digits) == 8 && short == 2
	isAddress := len(groups) == 4 && short == 4 && b[groups[0].to] == '.' && b[groups[2].to] == '.'
	if isFraction || isDate || isAddress || !leftFree(b, from) || !rightFree(b, to) {
		return j
	}
	s.addNumber(&record.Number{From: from, To: to, Digits: digits, May: record.AllKinds, Loose: true})
	return to
}
