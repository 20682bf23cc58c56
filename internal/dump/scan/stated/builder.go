package stated

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/vigiahq/vigia/internal/dump/scan/record"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// builder puts one record together.
type builder struct {
	found     Found
	ids       []identity
	classes   record.Classes
	passwords []string
	site      string
	day       int32
}

// identity is an identifier of a record in normal form.
type identity struct {
	kind   identifier.Kind
	normal string
}

func (b *builder) resetRecord() {
	*b = builder{found: b.found, ids: b.ids[:0], passwords: b.passwords[:0]}
}

// longestPassword is longer than any password that people type.
const longestPassword = 4 << 10

// putValue takes a value of a member, which is not empty.
func (b *builder) putValue(member, value string, dates dateForm) *fault.Error {
	if kind, ok := identifiers[member]; ok {
		normal, err := parseIdentifier(kind, value)
		if err != nil {
			return memberFault(member, err)
		}
		b.ids = append(b.ids, identity{kind, normal})
		return nil
	}
	switch member {
	case memberSite:
		if b.site = hostInText(value); b.site == "" {
			return ErrRecord.Note("site: a host, or an address with one")
		}
	case memberInfected:
		if b.day = dates.parseDay(value); b.day == 0 {
			return ErrRecord.Note("infected: a day, %s", dates)
		}
	default:
		if b.classes |= classes[member]; member == memberPassword {
			if len(value) > longestPassword {
				return ErrRecord.Note("password: at most %d bytes", longestPassword)
			}
			b.passwords = append(b.passwords, value)
		}
	}
	return nil
}

// noteMember takes a member whose value was not given: all that is known is that it stood there.
func (b *builder) noteMember(member string) *fault.Error {
	class, ok := classes[member]
	if !ok {
		return ErrRecord.Note("%s: a value; true is for classes of data", member)
	}
	b.classes |= class
	return nil
}

// memberFault returns the fault of a value of a member.
func memberFault(member string, err error) *fault.Error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return ErrRecord.Note("%s: not one", member)
	}
	return ErrRecord.Note("%s: %s", member, f.Detail())
}

// parseIdentifier gives the normal form. What leaked may be old: phones may lack their ninth digit.
func parseIdentifier(kind identifier.Kind, value string) (string, error) {
	if kind == identifier.Phone {
		return identifier.ParseLeakedPhone(value)
	}
	return identifier.ParseValue(kind, value, identifier.Required)
}

// handOut calls back with the identifiers of the record.
func (b *builder) handOut() *fault.Error {
	if len(b.ids) == 0 {
		return ErrRecord.Note("record: at least one of email, cpf, phone, card, pix_key, cnpj")
	}
	all := b.classes
	for _, id := range b.ids {
		ofRecord, _ := record.ClassesOf(id.kind)
		all |= ofRecord
	}
	s := record.Sighting{Told: true, Day: b.day}
	if len(b.passwords) == 1 { // of several it is unknown which belongs to which identifier
		s.Password = []byte(b.passwords[0])
	}
	if b.site != "" {
		s.Site = []byte(b.site)
	}
	for i, id := range b.ids {
		_, itself := record.ClassesOf(id.kind)
		s.Kind, s.Normal, s.Classes, s.First = id.kind, []byte(id.normal), all|itself, i == 0
		b.found(&s)
	}
	return nil
}

// hostInText takes the host out of an address, or is empty.
func hostInText(text string) string {
	host := string(record.AppendHost(nil, []byte(text)))
	if strings.ContainsFunc(host, func(c rune) bool { return c >= utf8.RuneSelf }) {
		return ""
	}
	return host
}
