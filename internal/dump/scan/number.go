package scan

import (
	"math/bits"
	"strings"

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

// group is digits that stand together.
type group struct{ from, to int }

// size returns how many digits the group has.
func (g group) size() int { return g.to - g.from }

// mostGroups is how many groups are looked at to either side of one.
const mostGroups = 5

// number reads the number of which the digits b[i:j] are a group, and returns where to go on.
func (s *finder) number(b []byte, i, j int) int {
	if j-i >= longestRun {
		s.noteRun(b, i, j)
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
	if j-i > 9 && n.May != record.AllKinds ||
		j-i > 11 && !record.Brazilian(n.Digits) && !record.IsCardNumber(n.Digits) {
		s.noteRun(b, i, j)
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

// shapeHash stands for the sizes of groups and what is between them.
type shapeHash uint64

// add returns the hash with one more character of the shape.
func (h shapeHash) add(c byte) shapeHash { return (h + shapeHash(c)) * 0x9e3779b97f4a7c15 }

// addGap adds what stands between two groups: blanks count only where there is nothing else.
func (h shapeHash) addGap(gap []byte) shapeHash {
	blank := true
	for _, c := range gap {
		if c != ' ' && c != '+' {
			h, blank = h.add(gapByte[c]), false
		}
	}
	if blank {
		h = h.add(' ')
	}
	return h
}

// shapeTable holds the shapes by the top bits of their hashes, and after these.
var shapeTable = func() (t [4096]struct {
	hash shapeHash
	said record.Kinds
},
) {
	for h, said := range shapes {
		at := h >> 52
		for ; t[at%4096].said != 0; at++ {
		}
		t[at%4096].hash, t[at%4096].said = h, said
	}
	return t
}()

// shapeOfGroups returns what is written in groups of a shape, or 0.
func shapeOfGroups(h shapeHash) record.Kinds {
	for at := h >> 52; ; at++ {
		if e := &shapeTable[at%4096]; e.hash == h || e.said == 0 {
			return e.said
		}
	}
}

// hashShape returns the hash of a whole shape, to be compared with one that was built while reading.
func hashShape(shape string) (h shapeHash) {
	for _, c := range []byte(shape) {
		h = h.add(c)
	}
	return h
}

// gapByte is what a character between groups is in a shape.
var gapByte = func() (t [256]byte) {
	for c := range t {
		t[c] = byte(c)
	}
	t['['], t[']'], t['X'] = '(', ')', 'x'
	return t
}()

// looseShape marks shapes that other numbers have, too.
const looseShape record.Kinds = 1 << 7

// shapes are the ways identifiers are written in groups: the size of each, and what stands between them.
var shapes = func() map[shapeHash]record.Kinds {
	t := map[shapeHash]record.Kinds{}
	for _, s := range []string{
		"3.3.3-2", "3.3.3/2", "3.3.3 2", "3.3.3.2", "3 3 3 2", "3 3 3-2", "3 3 3/2", "3-3-3-2",
		"9-2", "9/2",
	} {
		t[hashShape(s)] = record.CPFKind
	}
	t[hashShape("9 2")] = record.CPFKind | looseShape
	for _, sep := range []string{" ", "-", ".", "_", "x", "xx"} {
		for _, s := range []string{"4~4~4~4", "4~4~4~4~3", "4~6~5", "4~6~4"} {
			t[hashShape(strings.ReplaceAll(s, "~", sep))] = record.CardKind
		}
	}
	phone := func(shape string, strict bool) {
		if h := hashShape(shape); t[h] == 0 {
			if t[h] = record.PhoneKind; !strict {
				t[h] |= looseShape
			}
		}
	}
	for _, sub := range []string{
		"5-4", "4-4", "5 4", "4 4", "5.4", "4.4", "9", "8", "1 4-4", "1 4 4", "1-4-4", "1.4.4",
		"1.4-4", "1 8",
	} {
		mobile := sub[0] == '5' || sub == "9" || sub[0] == '1'
		for _, gap := range []string{"", "-"} {
			for _, area := range []string{"(2)", "(3)", "(5)", "(1xx2)"} {
				for _, code := range []string{"", "+2", "2", "+2-", "4"} {
					phone(code+area+gap+sub, true)
				}
			}
		}
		for _, gap := range []string{" ", "-", ".", "/"} {
			for _, area := range []string{"3", "4", "5", "6", "1xx2", "+4"} {
				phone(area+gap+sub, true)
			}
			for _, code := range []string{"+2 ", "2 ", "+2-", "2-", "+2.", "4 ", "3 ", "3-", "4-"} {
				phone(code+"2"+gap+sub, true)
				phone(code+"3"+gap+sub, true)
			}
			hyphen := sub == "4-4" || sub == "4.4" && gap == "."
			phone("2"+gap+sub, (mobile || hyphen) && !(gap == "." && (sub == "9" || sub == "8")))
		}
	}
	phone("7-4", true)
	phone("6-4", false)
	return t
}()

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

// leftFree reports whether a number that begins at b[i] is not the tail of something longer: of a decimal, of a
// hyphened number, of a hash. Only what may stand in a domain name, letters, digits, dots and hyphens, needs a closer
// look.
func leftFree(b []byte, i int) bool { return i == 0 || class[b[i-1]]&inDomain == 0 || freeAfter(b, i) }

// freeAfter is leftFree behind such a character.
func freeAfter(b []byte, i int) bool {
	c := b[i-1]
	switch {
	case c == '.' || c == '-':
		return i < 2 || !isDigit(b[i-2]) && !(i > 2 && class[b[i-2]]&hexOnly != 0 && isDigit(b[i-3]))
	case class[c]&digit != 0:
		return i >= 3 && b[i-3] == '%' // %20, which was stepped over
	}
	// Behind letters: a word such as CPF, an escape such as \n or %3D, and no part of a hash.
	if i >= 3 && b[i-3] == '%' && isHexDigit(b[i-2]) {
		return true
	}
	k, plain := i, false
	for ; k > 0 && i-k < 16 && class[b[k-1]]&letter != 0; k-- {
		plain = plain || class[b[k-1]]&hexOnly == 0
	}
	return k == 0 && plain || k > 0 && !isDigit(b[k-1]) && (plain || b[k-1] == '\\')
}

// rightFree reports whether a number that ends before b[j] does not go on: a sentence or a range may end so.
func rightFree(b []byte, j int) bool {
	return j >= len(b) || class[b[j]]&inDomain == 0 ||
		class[b[j]]&(letter|digit) == 0 && (j+1 >= len(b) || !isDigit(b[j+1]))
}

// decimalZero reports whether a whole number that ends before b[j] goes on as 52998224725.0: a spreadsheet's or a data
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

// wordRight reports whether letters that no hash has come right after b[:j]: a state, a name.
func wordRight(b []byte, j int) bool {
	for k := j; k < len(b) && k < j+4 && class[b[k]]&letter != 0; k++ {
		if class[b[k]]&hexOnly == 0 {
			return true
		}
	}
	return false
}

// trackLeft reports whether b[i] begins the number of a first track: %B4111...
func trackLeft(b []byte, i int) bool { return i >= 2 && b[i-1]|0x20 == 'b' && b[i-2] == '%' }

// afterCard reports whether what follows a card's number at b[j] is its expiry date: of a second track, where '=' was
// written as D, or of a list.
func afterCard(b []byte, j int) bool {
	if j+4 < len(b) && b[j]|0x20 == 'd' && isDigit(b[j+1]) && isDigit(b[j+2]) && month(b[j+3], b[j+4]) {
		return true
	}
	if j+5 >= len(b) || b[j] != '-' && b[j] != '.' || b[j+3] != b[j] || !month(b[j+1], b[j+2]) || !isDigit(b[j+4]) ||
		!isDigit(b[j+5]) {
		return false
	}
	end := j + 6
	if end+1 < len(b) && isDigit(b[end]) && isDigit(b[end+1]) {
		end += 2
	}
	return end >= len(b) || !isDigit(b[end])
}

// month reports whether two digits are a month, 01 to 12.
func month(tens, ones byte) bool {
	return tens == '0' && ones >= '1' && ones <= '9' || tens == '1' && ones >= '0' && ones <= '2'
}

// digitsOnly reports whether b holds nothing but digits; true for an empty b.
func digitsOnly(b []byte) bool {
	for _, c := range b {
		if !isDigit(c) {
			return false
		}
	}
	return true
}

// quote reports whether c is a single or a double quote.
func quote(c byte) bool { return c == '"' || c == '\'' }
