package record

import (
	"bytes"
	"slices"

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

// isMoment reports whether ten digits are a Unix time of the years 2008 to 2027, which dumps are full of, or the last
// one of all.
func isMoment(n []byte) bool {
	return n[0] == '1' && n[1] >= '2' && n[1] <= '7' || string(n) == "2147483647"
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
