package identifier

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
