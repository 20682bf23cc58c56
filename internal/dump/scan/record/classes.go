package record

import "github.com/vigiahq/vigia/internal/identifier"

// Classes is a set of the classes of data that a breach can expose, a bit for each in the order of the vocabulary.
type Classes uint16

// The classes, in the order in which the vocabulary is documented. The last two of it, health and other, are also here
// so that every set of the vocabulary can be written down.
const (
	Email Classes = 1 << iota
	Password
	PasswordHash
	CPF
	Phone
	Card
	Address
	Name
	BirthDate
	Document
	Health
	Financial
	Cookies
	IP
	Username
	Other
)

// Has reports whether all of the classes of other are in the set.
func (c Classes) Has(other Classes) bool { return c&other == other }

// ofKind maps the kind of an identifier to the class of data that it exposes of the person whose record it is in. A
// CNPJ is missing: a company's number is no document of a person who works there.
var ofKind = [identifier.NumKinds]Classes{
	identifier.Email:  Email,
	identifier.CPF:    CPF,
	identifier.Phone:  Phone,
	identifier.Card:   Card,
	identifier.PixKey: Financial,
}

// ofItself returns the class that an identifier is itself.
func ofItself(kind identifier.Kind) Classes {
	if kind == identifier.CNPJ {
		return Other
	}
	return ofKind[kind]
}

// ClassesOf returns what an identifier says of the record that it stands in, and what is told of it beside that.
func ClassesOf(kind identifier.Kind) (ofRecord, itself Classes) { return ofKind[kind], ofItself(kind) }
