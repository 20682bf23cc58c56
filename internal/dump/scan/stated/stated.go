// Package stated reads records whose vendor says what is in them: the normal form vigia-records, and exports of vendors
// by a mapping of their fields.
//
// ReadRecords reads them, by a Mapping where there is one. Nothing is guessed here: a value is what its member is
// called, or it is refused, with the line, the field and the rule and never with the value.
// docs/formats/vigia-records.md describes both forms.
package stated

import (
	"bytes"
	"context"
	"io"

	"github.com/vigiahq/vigia/internal/dump/scan/record"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// ErrRecord is a line that is no record, and ErrText a text that is none of records at all.
var (
	ErrRecord = fault.New(fault.Invalid, "records.invalid")
	ErrText   = fault.New(fault.Unprocessable, "records.text")
)

// Found and Wrong are called with what a text holds: identifiers with their records, and lines that were not taken.
// What Wrong returns ends the reading.
type (
	Found = record.Found
	Wrong func(line int64, why *fault.Error) error
)

// identifiers are the members that name a person.
var identifiers = map[string]identifier.Kind{
	"email": identifier.Email, "cpf": identifier.CPF, "phone": identifier.Phone, "card": identifier.Card,
	"pix_key": identifier.PixKey, "cnpj": identifier.CNPJ,
}

// classes are the members that say what else stood in the record, in the words of the vocabulary.
var classes = map[string]record.Classes{
	"password": record.Password, "password_hash": record.PasswordHash, "address": record.Address, "name": record.Name,
	"birth_date": record.BirthDate, "document": record.Document, "health": record.Health, "financial": record.Financial,
	"cookies": record.Cookies, "ip_address": record.IP, "username": record.Username, "other": record.Other,
}

// The members that are neither: what a credential is for, and the day on which it was taken.
const (
	memberSite     = "site"
	memberInfected = "infected"
	memberPassword = "password"
	// memberEither is for mappings alone: a column that holds CPFs and CNPJs.
	memberEither = "cpf_or_cnpj"
)

// Members returns all that a record may have, in the order of documentation.
func Members() []string {
	return []string{
		"email",
		"cpf",
		"phone",
		"card",
		"pix_key",
		"cnpj",
		"password",
		"password_hash",
		"address",
		"name",
		"birth_date",
		"document",
		"health",
		"financial",
		"cookies",
		"ip_address",
		"username",
		"other",
		memberSite,
		memberInfected,
	}
}

// isMember reports whether a record can have a member of that name.
func isMember(name string) bool {
	_, names := identifiers[name]
	_, tells := classes[name]
	return names || tells || name == memberSite || name == memberInfected
}

// Version is that of the form that is read.
const Version = 1

// Longest is how long a line may be.
const Longest = 1 << 20

// Summary is what a text said and held.
type Summary struct {
	// Records were taken, Wrong lines were not. LeftOut are values of an export that are none of their kind.
	Records, Wrong, LeftOut int64
}

var (
	mark = []byte(`"vigia_records"`)
	bom  = []byte("\xef\xbb\xbf")
)

// IsStated reports whether a text that begins like this is one of vigia-records.
func IsStated(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, bom), " \t\r\n")
	if len(head) == 0 || head[0] != '{' {
		return false
	}
	return bytes.HasPrefix(bytes.TrimLeft(head[1:], " \t"), mark)
}

// ReadRecords hands out the records of a text: those of a vendor by m, those of vigia-records without one.
func ReadRecords(ctx context.Context, r io.Reader, m *Mapping, found Found, wrong Wrong) (Summary, error) {
	t := &text{ctx: ctx, build: builder{found: found}, wrong: wrong}
	if m != nil {
		err := m.readExport(t, r)
		return t.sum, err
	}
	err := t.eachLine(r, t.takeLine)
	if err == nil && !t.begun {
		err = ErrText.Note(`line 1: vigia_records: the first line is {"vigia_records": 1}`)
	}
	return t.sum, err
}
