// Package identifier knows the things a person or a company is recognised by: e-mail address, CPF, CNPJ, phone number,
// payment card, domain, random Pix key, postal code, state. It parses what people write, checks it, and gives the one
// normal form of it.
//
// It does not know where a value comes from or what becomes of it: no HTTP, no storage, no keys. Partner requests,
// imports and the dump scanner all normalise here, so that a watched value and a leaked one meet as equal bytes.
//
// Invariants: every normal form is its own normal form, and no error repeats the value that was refused.
package identifier

import "github.com/vigiahq/vigia/internal/platform/fault"

// The rules a value can break. Callers tell which with errors.Is; the detail is plain ASCII and fit to be shown.
var (
	ErrKind        = newRuleFault("kind", fault.UnknownType)
	ErrEmpty       = newRuleFault("empty", fault.NotEmpty)
	ErrLength      = newRuleFault("length", fault.WrongLength)
	ErrCharacter   = newRuleFault("character", fault.CharacterNotAllowed)
	ErrCheckDigits = newRuleFault("check_digits", fault.CheckDigits)
	ErrRepeated    = newRuleFault("repeated", fault.RepeatedCharacter)
	ErrAreaCode    = newRuleFault("area_code", fault.UnknownAreaCode)
	ErrCountryCode = newRuleFault("country_code", fault.UnknownCountryCode)
	ErrNumber      = newRuleFault("number", fault.NoSuchPhone)
	ErrAddress     = newRuleFault("address", fault.NotOneEmail)
	ErrDomain      = newRuleFault("domain", fault.NotADomain)
	ErrPixKey      = newRuleFault("pix_key", fault.NotAPixKey)
	ErrState       = newRuleFault("state", fault.UnknownState)
)

func newRuleFault(name string, broken fault.Rule) *fault.Error {
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
