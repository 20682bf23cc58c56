// Package identifier knows the things a person or a company is recognised by: e-mail address, CPF, CNPJ, phone number,
// payment card, domain, random Pix key, postal code, state. It parses what people write, checks it, and gives the one normal form of
// it.
//
// It does not know where a value comes from or what becomes of it: no HTTP, no storage, no keys. Partner requests,
// imports and the dump scanner all normalise here, so that a watched value and a leaked one meet as equal bytes.
//
// Invariants: every normal form is its own normal form, and no error repeats the value that was refused.
package identifier

import "github.com/vigiahq/vigia/internal/fault"

// Kind is the type of a value that can be watched.
type Kind uint8

// The kinds. Zero is no kind, so that a forgotten one is noticed.
const (
	Email Kind = iota + 1
	CPF
	Phone
	Card
	Domain
	PixKey
	CNPJ
)

// NumKinds is one more than the last kind, for tables by kind.
const NumKinds = int(CNPJ) + 1

var kindNames = [NumKinds]string{
	Email: "email", CPF: "cpf", Phone: "phone", Card: "credit_card", Domain: "domain", PixKey: "pix_key", CNPJ: "cnpj",
}

// Kinds lists every kind.
func Kinds() []Kind { return []Kind{Email, CPF, Phone, Card, Domain, PixKey, CNPJ} }

// Extra tells the kinds that the contract's own operations neither take nor show.
func (k Kind) Extra() bool { return k == PixKey || k == CNPJ }

// String returns the partner contract's word for the kind, or the extensions'.
func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return "unknown"
	}
	return kindNames[k]
}

// ParseKind reads the word for a kind that String returns.
func ParseKind(s string) (Kind, error) {
	for k, name := range kindNames {
		if name == s && name != "" {
			return Kind(k), nil
		}
	}
	return 0, ErrKind
}

// CheckDigits says whether the check digits of a CPF, a CNPJ or a card must be right. The zero value requires them.
type CheckDigits uint8

// Required is the rule; Waived is for sandbox partners, whose people are made up. Every other rule holds for both.
const (
	Required CheckDigits = iota
	Waived
)

// The rules a value can break. Callers tell which with errors.Is; the detail is plain ASCII and fit to be shown.
var (
	ErrKind        = rule("kind", fault.UnknownType)
	ErrEmpty       = rule("empty", fault.NotEmpty)
	ErrLength      = rule("length", fault.WrongLength)
	ErrCharacter   = rule("character", fault.CharacterNotAllowed)
	ErrCheckDigits = rule("check_digits", fault.CheckDigits)
	ErrRepeated    = rule("repeated", fault.RepeatedCharacter)
	ErrAreaCode    = rule("area_code", fault.UnknownAreaCode)
	ErrCountryCode = rule("country_code", fault.UnknownCountryCode)
	ErrNumber      = rule("number", fault.NoSuchPhone)
	ErrAddress     = rule("address", fault.NotOneEmail)
	ErrDomain      = rule("domain", fault.NotADomain)
	ErrPixKey      = rule("pix_key", fault.NotAPixKey)
	ErrState       = rule("state", fault.UnknownState)
)

func rule(name string, broken fault.Rule) *fault.Error {
	return fault.New(fault.Invalid, "identifier."+name).With("", broken)
}

// Parse returns the normal form of s as a value of kind k.
func Parse(k Kind, s string, check CheckDigits) (string, error) {
	switch k {
	case Email:
		return ParseEmail(s)
	case CPF:
		return ParseCPF(s, check)
	case Phone:
		return ParsePhone(s)
	case Card:
		return ParseCard(s, check)
	case Domain:
		return ParseDomain(s)
	case PixKey:
		return ParsePixKey(s)
	case CNPJ:
		return ParseWrittenCNPJ(s, check)
	}
	return "", ErrKind
}
