package subject

import (
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Person is who is asked about: by CPF, or by a user hash of one partner.
type Person struct {
	// CPF is eleven digits; empty when User names the person.
	CPF  string
	User partner.UserHash
	// Partner narrows the question to one partner; empty means all. A user hash needs it.
	Partner partner.ID
}

// ParsePerson reads who is meant. Check digits are not asked for: people of sandbox partners have none.
func ParsePerson(cpf, user, id string) (Person, error) {
	p := Person{Partner: partner.ID(id)}
	switch {
	case (cpf == "") == (user == ""):
		return p, ErrInvalid.With("", fault.NeedsPerson)
	case user != "" && id == "":
		return p, ErrInvalid.With("user-hash", fault.UserHashNeedsPartner)
	case user != "":
		var err error
		p.User, err = partner.ParseUserHash("user-hash", user)
		return p, err
	}
	var err error
	if p.CPF, err = identifier.ParseCPF(cpf, identifier.Waived); err != nil {
		return p, ErrInvalid.With("cpf", fault.CPFFormat)
	}
	return p, nil
}
