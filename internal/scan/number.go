package scan

import (
	"math/bits"

	"github.com/vigiahq/vigia/internal/identifier"
)

// longestRun is more digits than anything looked for has.
const longestRun = 20

// numbers reads the identifiers made of digits that begin in b[from:limit], a stretch that is marked, leaving out what
// begins before b[done]. It returns where what it read ends.
//
// The marks tell, for 48 bytes at once, where something with the rhythm of a CPF, a phone or a card begins. Dates,
// prices, addresses and counters, of which dumps are full, have dropped out there without a branch of their own. A run
// of digits counts where it begins, so that of two pieces of a stream only one has it. done is where what was emitted or
// refused so far ends.
func (s *Scanner) numbers(b []byte, from, limit, done int) int {
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
				digits := s.marks.digits.at(at)
				j := i + bits.TrailingZeros64(^digits)
				for j-i >= longestRun && j < len(b) && isDigit(b[j]) { // goes on beyond the bits
					j++
				}
				// The place may lie inside its run, if its first group is longer than four.
				for k := 0; i > 0 && isDigit(b[i-1]) && k < longestRun; k++ {
					i--
					digits = digits<<1 | 1
				}
				done = s.run(b, i, j, digits)
			}
		}
	}
	return done
}

// Where digits stand in numbers that are written in groups, from their first digit on, up to where the last group must
// have ended.
const (
	dottedCPFShape = 0b0_11_0_111_0_111_0_111
	dottedCPFMask  = 1<<15 - 1
	// After a first group.
	twoMoreShape  = 0b0_11_0 // 529982247-25
	twoMoreMask   = 1<<4 - 1
	fourMoreShape = 0b0_1111_0 // 98765-4321
	fourMoreMask  = 1<<6 - 1
)

// run judges the maximal run of digits b[i:j] and returns where to go on: after what it emitted, or after the run.
// digits has a bit for each byte from b[i] on, more than any number has.
func (s *Scanner) run(b []byte, i, j int, digits uint64) int {
	if i >= 1 && b[i-1] == '%' && j-i > 2 {
		i += 2 // %20 and the like
		digits >>= 2
	}
	fourMore := digits>>(uint(j-i)&63)&fourMoreMask == fourMoreShape // of longer runs it is not asked
	switch j - i {
	case 3:
		if digits&dottedCPFMask == dottedCPFShape {
			return s.dottedCPF(b, i)
		}
		if end := s.spacedForeign(b, i); end > 0 {
			return end
		}
	case 4:
		if end := s.groupedCard(b, i, digits); end > 0 {
			return end
		}
		if fourMore {
			return s.splitPhone(b, i, j)
		}
		if j+1 < len(b) && b[j] == ' ' && b[j+1] == ' ' {
			if end := s.spacedCard(b, i); end > 0 {
				return end
			}
		}
	case 5:
		if fourMore {
			return s.splitPhone(b, i, j)
		}
	case 6, 7:
		if fourMore && b[j] == '-' {
			return s.joinedPhone(b, i, j)
		}
	case 8:
		if end := s.shortNumber(b, i, j); end > 0 {
			return end
		}
		return s.splitPhone(b, i, j)
	case 9:
		if digits>>9&twoMoreMask == twoMoreShape && (b[j] == '-' || b[j] == '/' || b[j] == ' ') {
			if end := s.dashedCPF(b, i, j); end > 0 {
				return end
			}
		}
		if end := s.shortNumber(b, i, j); end > 0 {
			return end
		}
		return s.splitPhone(b, i, j)
	case 10, 11, 12, 13, 14, 15, 16, 17, 18, 19:
		if rightFree(b, j) && leftFree(b, i) { // what hashes have on their right is told sooner
			if n := b[i:j]; len(n) > 11 && s.records != nil && !brazilian(n) && !(network(n) && identifier.Luhn(n)) {
				s.noteRun(b, i, j)
			}
			s.bareNumber(b, i, j)
			return j
		}
		s.noteRun(b, i, j)
		if j < len(b) && b[j]|0x20 == 'e' {
			if end := s.exponent(b, i, j); end > 0 {
				return end
			}
		}
		s.tight(b, i, j)
	default:
		if j-i >= longestRun {
			s.noteRun(b, i, j)
		}
	}
	return j
}

// BUG(scan): eleven bare digits can be a right CPF and a mobile number at once. In a column that mixes both, and where no
// label or column says which it is, both readings are kept, one of which is of somebody else or of nobody.

// bareNumber judges ten to nineteen digits that stand by themselves.
func (s *Scanner) bareNumber(b []byte, i, j int) {
	n := b[i:j]
	if i > 0 && b[i-1] == '+' && !brazilian(n) {
		if foreign(n) {
			s.emit(identifier.Phone, append(append(s.text[:0], '+'), n...), i-1, j)
		}
		return
	}
	switch len(n) {
	case 10:
		s.tenDigits(b, i, j)
	case 11:
		s.elevenDigits(b, i, j)
	case 12, 13:
		switch {
		case s.place(b, i, j) == numberWord:
		case brazilian(n):
			s.phone(n[2:], i, j)
		case n[0] == '0' && len(n) == 12 && n[3] == '9' && s.label(b, i) != cpfWord:
			s.phone(n[1:], i, j)
			s.weakCPF(n, i, j)
		case n[0] == '0' && s.labelled(b, i, j):
		default:
			s.card(n, i, j)
			s.weakCPF(n, i, j)
		}
	default:
		if len(n) == bareCNPJ && s.companyNumber(b, i, j) {
			return
		}
		if n[0] != '0' {
			if issued(n) && s.place(b, i, j) != numberWord {
				s.emit(identifier.Card, n, i, j)
			}
		} else if !s.labelled(b, i, j) {
			s.weakPadded(n, i, j)
		}
	}
}

// tenDigits judges what may be a landline, an old mobile, or a CPF without its first zero.
func (s *Scanner) tenDigits(b []byte, i, j int) {
	n := b[i:j]
	word := s.place(b, i, j)
	switch {
	case word == cpfWord && s.paddedCPF(n, i, j):
	case bareTen(word, n):
		s.phone(n, i, j)
		s.weakCPF(n, i, j)
	case word == noWord:
		s.weakPhone(n, i, j)
		s.weakCPF(n, i, j)
	}
}

// elevenDigits judges what may be a CPF or a mobile.
func (s *Scanner) elevenDigits(b []byte, i, j int) {
	n := b[i:j]
	cpf, phone := identifier.ValidCPF(n), n[2] == '9' && identifier.AreaCode(n[0], n[1])
	if !cpf && !phone {
		return
	}
	word := s.place(b, i, j)
	if cpf && phone && word != numberWord {
		// Both readings are right as far as the digits go. A label next to them decides, or what the lines around have in
		// this place; without either both are kept.
		if word == noWord {
			word = column(b, i)
		}
		cpf, phone = word != phoneWord, word != cpfWord
	}
	if word == numberWord {
		phone, cpf = false, cpf && sameLabel(b, i)
	}
	if cpf {
		s.emit(identifier.CPF, n, i, j)
	}
	if phone {
		s.phone(n, i, j)
	}
}

// dottedCPF reads 529.982.247-25 and its kin, the digits of which are in their places.
func (s *Scanner) dottedCPF(b []byte, i int) int {
	t := b[i : i+14]
	sep, last := t[3], t[11]
	if sep != t[7] || !cpfSeparators(sep, last) {
		return i + 3
	}
	cpf := append(s.text[:0], t[0], t[1], t[2], t[4], t[5], t[6], t[8], t[9], t[10], t[12], t[13])
	if !identifier.ValidCPF(cpf) || !leftFree(b, i) || !rightFree(b, i+14) && !wordRight(b, i+14) {
		return i + 3
	}
	if last == '.' && s.label(b, i) != cpfWord && octets(cpf) {
		s.weak(identifier.CPF, cpf, i, i+14)
		return i + 3
	}
	s.emit(identifier.CPF, cpf, i, i+14)
	return i + 14
}

func cpfSeparators(sep, last byte) bool {
	switch sep {
	case '.':
		return last == '-' || last == '/' || last == ' ' || last == '.'
	case ' ':
		return last == ' ' || last == '-' || last == '/'
	case '-':
		return last == '-'
	}
	return false
}

// octets says whether a CPF that is written with dots alone may be a network address.
func octets(cpf []byte) bool {
	for k := 0; k < 9; k += 3 {
		if string(cpf[k:k+3]) > "255" {
			return false
		}
	}
	return true
}

// dashedCPF reads 529982247-25, the digits of which are in their places, and returns its end, or zero. After a space
// the last two may be another number: then something has to say that it is a CPF.
func (s *Scanner) dashedCPF(b []byte, i, j int) int {
	cpf := append(append(s.text[:0], b[i:j]...), b[j+1], b[j+2])
	if !identifier.ValidCPF(cpf) || !leftFree(b, i) || !rightFree(b, j+3) && !wordRight(b, j+3) {
		return 0
	}
	if b[j] == ' ' && s.label(b, i) != cpfWord {
		s.weak(identifier.CPF, cpf, i, j+3)
		return 0
	}
	s.emit(identifier.CPF, cpf, i, j+3)
	return j + 3
}
