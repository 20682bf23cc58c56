// Package identifier knows the things a person or a company is recognised by: e-mail address, CPF, CNPJ, phone number,
// payment card, domain, random Pix key, postal code, state. It parses what people write, checks it, and gives the one
// normal form of it.
//
// It does not know where a value comes from or what becomes of it: no HTTP, no storage, no keys. Partner requests,
// imports and the dump scanner all normalise here, so that a watched value and a leaked one meet as equal bytes.
//
// Invariants: every normal form is its own normal form, and no error repeats the value that was refused.
package identifier

import (
	"strings"
	"unicode/utf8"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

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

// IsKnown reports whether it is one of the kinds: see sqldb.Enumerated.
func (k Kind) IsKnown() bool {
	switch k {
	case Email, CPF, Phone, Card, Domain, PixKey, CNPJ:
		return true
	}
	return false
}

// NumKinds is one more than the last kind, for tables by kind.
const NumKinds = int(CNPJ) + 1

var kindNames = [NumKinds]string{
	Email: "email", CPF: "cpf", Phone: "phone", Card: "credit_card", Domain: "domain", PixKey: "pix_key", CNPJ: "cnpj",
}

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

// MarshalText writes the word for a kind; none for the zero value.
func (k Kind) MarshalText() ([]byte, error) {
	if k == 0 {
		return nil, nil
	}
	return []byte(k.String()), nil
}

// UnmarshalText reads what MarshalText writes.
func (k *Kind) UnmarshalText(text []byte) (err error) {
	if *k = 0; len(text) > 0 {
		*k, err = ParseKind(string(text))
	}
	return err
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

// elevenComplement returns the check digit of a weighted sum, in the way CPF and CNPJ share.
func elevenComplement(sum int) int {
	if r := sum % 11; r >= 2 {
		return 11 - r
	}
	return 0
}

// isASCIIDigit reports whether c is a decimal digit.
func isASCIIDigit(c byte) bool { return c-'0' <= 9 }

// allDigits reports whether s consists of ASCII digits; true for an empty s. It tests eight bytes at once for most
// lengths.
func allDigits[T string | []byte](s T) bool {
	if n := len(s); n >= 8 && n <= 16 { // the length of most, which overlap
		return eightDigits(loadEight(s, 0)) && eightDigits(loadEight(s, n-8))
	}
	for i := range len(s) {
		if !isASCIIDigit(s[i]) {
			return false
		}
	}
	return true
}

const (
	ones = 0x0101010101010101
	tops = 0x80 * ones
)

// loadEight is s[i:i+8] in one word, its first byte lowest.
func loadEight[T string | []byte](s T, i int) uint64 {
	s = s[i : i+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(
		s[3],
	)<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// eightDigits reports whether all bytes of a word are digits: less '0', none has its top bit set, nor gets it by adding
// 0x76.
func eightDigits(word uint64) bool {
	word ^= '0' * ones
	return (word|(word&^tops)+0x76*ones)&tops == 0
}

// weighBytes adds up the bytes of a word, each times its weight: even has those of the first, third, fifth and seventh
// byte from its top down, odd the others, 16 bits each. Products that do not count fall below or off the top 16 bits.
func weighBytes(word, even, odd uint64) int {
	const low = 0x00ff00ff00ff00ff
	return int((word&low)*even>>48 + (word>>8&low)*odd>>48)
}

// isOneDigitRepeated reports whether all characters are the same.
func isOneDigitRepeated[T string | []byte](s T) bool {
	for i := 1; i < len(s); i++ {
		if s[i] != s[0] {
			return false
		}
	}
	return true
}

// joinDigits appends the digits of s to dst, leaving out single separators of seps between two digits. Anything else is
// refused.
func joinDigits(dst []byte, s, seps string) ([]byte, error) {
	for i := range len(s) {
		c := s[i]
		if isASCIIDigit(c) {
			dst = append(dst, c)
			continue
		}
		if i == 0 || i == len(s)-1 || !isASCIIDigit(s[i-1]) || !isASCIIDigit(s[i+1]) || strings.IndexByte(seps, c) < 0 {
			return nil, ErrCharacter
		}
	}
	return dst, nil
}

// hidden stands for what a mask leaves out. Its length is fixed, so that it tells nothing of the length of the value.
const hidden = "***"

// MaskValue returns a value as it may be shown on a screen: enough for its owner to know it again, too little for
// anyone else. It takes normal forms and values as people write them; what it does not understand it hides whole.
func MaskValue(k Kind, value string) string {
	switch k {
	case Email:
		at := strings.LastIndexByte(value, '@')
		if at <= 0 {
			return hidden
		}
		return firstRune(value[:at]) + hidden + "@" + maskDomain(value[at+1:])
	case Domain:
		return maskDomain(value)
	case CPF:
		d := onlyDigits(value)
		if len(d) != cpfDigits {
			return hidden
		}
		return hidden + "." + hidden + "." + d[6:9] + "-**" // with three digits more a thousand people are left
	case Phone:
		return maskToLastFour(value, landlineBR-2)
	case Card:
		return maskToLastFour(value, cardShortest)
	case PixKey:
		if len(value) != pixKeyLength {
			return hidden
		}
		return hidden + "-" + value[pixKeyLength-4:]
	case CNPJ:
		// The company is in the register; which of its branches is not shown.
		normal, err := ParseWrittenCNPJ(value, Waived)
		if err != nil {
			return hidden
		}
		return "**." + normal[2:5] + "." + normal[5:8] + "/****-**"
	}
	return hidden
}

// maskDomain returns a domain of which only the first letter and the last label are shown.
func maskDomain(s string) string {
	dot := strings.LastIndexByte(s, '.')
	if dot <= 0 {
		return hidden
	}
	return firstRune(s) + hidden + s[dot:]
}

// maskToLastFour shows the end of a number that has at least shortest digits.
func maskToLastFour(s string, shortest int) string {
	d := onlyDigits(s)
	if len(d) < shortest {
		return hidden
	}
	return "****" + d[len(d)-4:]
}

// firstRune returns the first character of s; empty for an empty s.
func firstRune(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return s[:n]
}

func onlyDigits(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if isASCIIDigit(s[i]) {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// MaskForOwner shows of a value enough for the person whose it is to know it, and not enough for one who looks over
// their shoulder to use it.
func MaskForOwner(k Kind, value string) string {
	const dots = "•••"
	switch k {
	case Email:
		at := strings.LastIndexByte(value, '@')
		if at <= 0 {
			return dots
		}
		name := []rune(value[:at])
		return string(name[:min(2, len(name)-1)]) + dots + value[at:]
	case CPF:
		if d := onlyDigits(value); len(d) == cpfDigits {
			return dots + "." + d[3:6] + "." + d[6:9] + "-••"
		}
	case Phone:
		d := strings.TrimPrefix(onlyDigits(value), "55")
		if len(d) == 10 || len(d) == 11 {
			return "(" + d[:2] + ") " + d[2:3] + "••••-" + d[len(d)-4:]
		}
	case Domain, CNPJ:
		return value
	case Card, PixKey:
	}
	return MaskValue(k, value)
}
