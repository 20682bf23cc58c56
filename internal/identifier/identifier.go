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

// ListKinds lists every kind.
func ListKinds() []Kind { return []Kind{Email, CPF, Phone, Card, Domain, PixKey, CNPJ} }

// IsExtra tells the kinds that the contract's own operations neither take nor show.
func (k Kind) IsExtra() bool { return k == PixKey || k == CNPJ }

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
	ErrKind        = newRule("kind", fault.UnknownType)
	ErrEmpty       = newRule("empty", fault.NotEmpty)
	ErrLength      = newRule("length", fault.WrongLength)
	ErrCharacter   = newRule("character", fault.CharacterNotAllowed)
	ErrCheckDigits = newRule("check_digits", fault.CheckDigits)
	ErrRepeated    = newRule("repeated", fault.RepeatedCharacter)
	ErrAreaCode    = newRule("area_code", fault.UnknownAreaCode)
	ErrCountryCode = newRule("country_code", fault.UnknownCountryCode)
	ErrNumber      = newRule("number", fault.NoSuchPhone)
	ErrAddress     = newRule("address", fault.NotOneEmail)
	ErrDomain      = newRule("domain", fault.NotADomain)
	ErrPixKey      = newRule("pix_key", fault.NotAPixKey)
	ErrState       = newRule("state", fault.UnknownState)
)

// newRule returns the fault of a rule that a value broke.
func newRule(name string, broken fault.Rule) *fault.Error {
	return fault.New(fault.Invalid, "identifier."+name).With("", broken)
}

// ParseValue returns the normal form of s as a value of kind k.
func ParseValue(k Kind, s string, check CheckDigits) (string, error) {
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
