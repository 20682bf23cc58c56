package record

import (
	"bytes"
	"slices"

	"github.com/nyaruka/phonenumbers"

	"github.com/vigiahq/vigia/internal/identifier"
)

// Kinds is a set of kinds of identifiers.
type Kinds uint8

// The kinds that are made of digits.
const (
	CPFKind   = Kinds(1 << identifier.CPF)
	PhoneKind = Kinds(1 << identifier.Phone)
	CardKind  = Kinds(1 << identifier.Card)
	CNPJKind  = Kinds(1 << identifier.CNPJ)
	AllKinds  = CPFKind | PhoneKind | CardKind | CNPJKind
)

// MostDigits is as many as an identifier has at most, with what it may be padded by.
const MostDigits = 20

// Number is a number of the text, stripped of everything but its digits.
type Number struct {
	From, To int
	Digits   []byte // valid during the call only
	// Plus says that a plus sign stands before them.
	Plus bool
	// May is what the number can be by what touches it, and Strict what the way it is written shows it to be.
	May, Strict Kinds
	// Loose says that its groups are those of nothing that is known: only a name or its column can tell what it is.
	Loose bool
	// Apart says that it is no evidence of what its column holds: it is more likely something else.
	Apart bool
}

// numeral is what is kept of a Number until its column has been surveyed. What it can be read as was added as hits.
type numeral struct {
	from, to int32
	// can is what the digits can be read as, exact what they are read as where nothing else tells, strict what their
	// spelling shows.
	can, exact, strict Kinds
	length             uint8
	weight             uint8 // how unlikely it is that they can be a phone by chance
	isApart            bool
	name               column // of the label right before them
	tally              int32  // of their column, of numbers as long as they are; -1 without a column
}

// AddNumber takes a number of the text. What it is will be told by its column or its label, or else by its digits
// alone. It reports false, having done nothing, where the digits are not what their spelling promises.
func (r *Reader) AddNumber(n *Number) bool {
	d := n.Digits
	if len(d) < 8 || len(d) > MostDigits {
		return false
	}
	k := numeral{from: int32(n.From), to: int32(n.To), length: uint8(len(d)), isApart: n.Apart}
	cpf, card, phone := r.readings[0][:0], d, r.readings[1][:0]
	if n.May&CPFKind != 0 {
		isCPF := false
		if len(d) == 11 {
			cpf, isCPF = d, identifier.IsValidCPF(d)
			k.exact = CPFKind
		} else {
			cpf, isCPF = appendCPF(cpf, d)
		}
		if isCPF {
			k.can = CPFKind
		}
	}
	if len(d) >= 12 {
		if len(d) == bareCNPJ && n.May&CNPJKind != 0 && identifier.ValidCNPJ(d) {
			k.can |= CNPJKind
		} else if n.May&CardKind != 0 {
			if d[0] == '0' {
				card = bytes.TrimLeft(d, "0")
			}
			if IsCardNumber(card) {
				if k.can |= CardKind; d[0] != '0' {
					k.exact |= CardKind
				}
			}
		}
	}
	if n.May&PhoneKind != 0 {
		var exact, ok bool
		if phone, exact, ok = r.appendPhone(phone, n, &k.weight); ok {
			if k.can |= PhoneKind; exact {
				k.exact |= PhoneKind
			}
		}
	}
	if n.Strict&^k.can != 0 && n.Strict != CardKind {
		return false
	}
	if k.exact &= k.can; n.Loose {
		k.exact = 0
	} else if k.strict = n.Strict & k.can; k.strict != 0 {
		if k.exact |= k.strict; k.strict == PhoneKind {
			k.weight = strictWeight
		}
	}
	found := &r.shaped
	if k.can != k.strict || k.can&^CardKind == 0 { // else no column says anything else of it
		if r.countNumber(&k, 0); k.can == 0 {
			return true
		}
		found = &r.found
	}
	if last := len(*found) - 1; last >= 0 && (*found)[last].from > k.from {
		r.unordered = true
	}
	*found = append(*found, k)
	if k.can&CPFKind != 0 {
		r.addReading(identifier.CPF, cpf, &k)
	}
	if k.can&PhoneKind != 0 {
		r.addReading(identifier.Phone, phone, &k)
	}
	if k.can&CardKind != 0 {
		r.addReading(identifier.Card, card, &k)
	}
	if k.can&CNPJKind != 0 {
		r.addReading(identifier.CNPJ, d, &k)
	}
	return true
}

// addReading adds a hit for what the number can be.
func (r *Reader) addReading(kind identifier.Kind, normal []byte, k *numeral) {
	if k.can != k.strict || kind == identifier.Card {
		if r.adding = surveyed; k.exact&(1<<kind) == 0 {
			r.adding |= weak
		}
	}
	r.Add(kind, normal, int(k.from), int(k.to))
	r.adding = 0
}

// appendCPF appends the CPF that d is, which may have lost leading zeros or have some too many.
func appendCPF(dst, d []byte) ([]byte, bool) {
	for len(d) > 11 && d[0] == '0' {
		d = d[1:]
	}
	if len(d) > 11 || len(d) < 8 {
		return dst, false
	}
	from := len(dst)
	dst = append(append(dst, "000"[:11-len(d)]...), d...)
	return dst, identifier.IsValidCPF(dst[from:])
}

// IsCardNumber reports whether a payment network could have issued a card of that number. All digits equal after the
// first six are a filler, except those of everybody's test card.
func IsCardNumber(n []byte) bool {
	if !network(n) || !identifier.IsLuhnValid(n) {
		return false
	}
	for _, c := range n[7:] {
		if c != n[6] {
			return true
		}
	}
	return n[0] == '4' && n[1] == '1'
}

// network reports whether a payment network numbers its cards this way. The check digit alone lets every tenth number
// pass.
func network(n []byte) bool {
	if len(n) < 12 || len(n) > 19 {
		return false
	}
	switch two := int(n[0]-'0')*10 + int(n[1]-'0'); {
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
	default:
		return n[0] == '6' || two == 50 || two >= 56 && two <= 58
	}
}

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

// isMoment reports whether ten digits are a Unix time of the years 2008 to 2027, which dumps are full of, or the last
// one of all.
func isMoment(n []byte) bool {
	return n[0] == '1' && n[1] >= '2' && n[1] <= '7' || string(n) == "2147483647"
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

// sortNumbers puts the numbers in order, and takes those away that were also found decoded.
func (r *Reader) sortNumbers() {
	if !r.unordered {
		return
	}
	for _, found := range [2]*[]numeral{&r.found, &r.shaped} {
		slices.SortStableFunc(*found, func(a, b numeral) int { return int(a.from - b.from) })
		*found = slices.CompactFunc(
			*found,
			func(a, b numeral) bool { return a.from == b.from && a.to == b.to && a.can == b.can },
		)
	}
	r.unordered = false
}
