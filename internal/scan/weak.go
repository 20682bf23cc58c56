package scan

import (
	"bytes"

	"github.com/vigiahq/vigia/internal/identifier"
)

// weak hands on a reading that counts only where the column it stands in says so. Without records nothing can say that.
func (s *Scanner) weak(kind identifier.Kind, normal []byte, from, to int) {
	if s.records != nil {
		s.records.AddWeak(kind, normal, from, to)
	} else if s.inView != nil {
		s.inView(kind, normal, from, to, true)
	}
}

// weighs says whether somebody can weigh weak readings.
func (s *Scanner) weighs() bool { return s.records != nil || s.inView != nil }

// weakCPF hands on a CPF without its leading zeros, or with some too many.
func (s *Scanner) weakCPF(n []byte, from, to int) {
	if !s.weighs() {
		return
	}
	if cpf, ok := unpadded(s.text[32:32], n); ok {
		s.weak(identifier.CPF, cpf, from, to)
	}
}

// weakPhone hands on ten digits that look like a time, or a phone in groups that look like other numbers.
func (s *Scanner) weakPhone(national []byte, from, to int) {
	if !s.weighs() {
		return
	}
	if normal, ok := identifier.AppendBrazilianPhone(s.text[:0], national); ok {
		s.weak(identifier.Phone, normal, from, to)
	}
}

// weakPadded hands on what fourteen and more digits that begin with zeros may be: a CPF, a card, a phone with prefixes.
func (s *Scanner) weakPadded(n []byte, from, to int) {
	if !s.weighs() {
		return
	}
	s.weakCPF(n, from, to)
	if national, ok := prefixedPhone(n); ok {
		s.weakPhone(national, from, to)
	} else if n[1] == '0' && foreign(n[2:]) {
		s.weak(identifier.Phone, append(append(s.text[:0], '+'), n[2:]...), from, to)
	}
	for len(n) > 0 && n[0] == '0' {
		n = n[1:]
	}
	if network(n) && identifier.Luhn(n) && !repeats(n) {
		s.weak(identifier.Card, n, from, to)
	}
}

// shortNumber judges eight or nine digits: a CPF that lost zeros, where a label or column says so, or a phone whose area
// code stands in the field before. It returns the end of what it emitted, or zero.
func (s *Scanner) shortNumber(b []byte, i, j int) int {
	if j < len(b) && b[j]|0x20 == 'e' {
		return s.exponent(b, i, j)
	}
	free := rightFree(b, j)
	if (free || decimalZero(b, j)) && leftFree(b, i) {
		if cpf, ok := unpadded(s.text[32:32], b[i:j]); ok {
			if s.label(b, i) == cpfWord {
				s.emit(identifier.CPF, cpf, i, j)
				return j
			}
			s.weak(identifier.CPF, cpf, i, j)
		}
	}
	if free && s.weighs() {
		s.apartPhone(b, b[i:j], i, j)
	}
	return 0
}

// apartPhone hands on a subscriber's number n, which stands at b[from:to], with the area code that the field before it is.
func (s *Scanner) apartPhone(b, n []byte, from, to int) {
	area, named := areaBefore(b, from)
	if named && s.label(b, from) == phoneWord {
		s.phone(append(append(s.text[64:64], area...), n...), from, to)
	} else if area != nil {
		s.weakPhone(append(append(s.text[64:64], area...), n...), from, to)
	}
}

// areaBefore returns the area code that the field before the one at b[i] consists of, or nil: in a row, a tuple, an
// object or a block, where names stand between the two. It also says whether that is named as one.
func areaBefore(b []byte, i int) (area []byte, named bool) {
	k, stop, letters, ends := i, max(0, i-48), false, 0
	for ; k > stop && !isDigit(b[k-1]); k-- {
		switch c := b[k-1]; {
		case c == '\n':
			ends++
		case c == '(' || c == '{' || c == '[':
			return nil, false
		case class[c]&letter != 0:
			letters = true
		}
	}
	end := k
	for k > 0 && end-k < 4 && isDigit(b[k-1]) {
		k--
	}
	if area = b[k:end]; len(area) == 3 && area[0] == '0' {
		area = area[1:]
	}
	if len(area) != 2 || !identifier.AreaCode(area[0], area[1]) || end == i || !letters && i-end > 8 || ends > 1 || ends == 1 && !letters {
		return nil, false
	}
	if k > 0 && (class[b[k-1]]&letter != 0 || b[k-1] == '.' || b[k-1] == '-' || b[k-1] == '/') {
		return nil, false
	}
	for from := k; k > 0 && from-k < 8 && class[b[k-1]]&(letter|digit) == 0; k-- {
	}
	return area, k >= 3 && bytes.EqualFold(b[k-3:k], []byte("ddd"))
}
