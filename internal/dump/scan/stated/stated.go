// Package stated reads records whose vendor says what is in them: the normal form vigia-records, and exports of vendors
// by a mapping of their fields.
//
// ReadRecords reads them, by a Mapping where there is one. Nothing is guessed here: a value is what its member is
// called, or it is refused, with the line, the field and the rule and never with the value.
// docs/formats/vigia-records.md describes both forms.
package stated

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"
	"unicode/utf8"

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

// dateForm is how days are written.
type dateForm string

// The forms. The first is that of vigia-records.
const (
	isoDates    dateForm = "YYYY-MM-DD"
	dayFirst    dateForm = "DD/MM/YYYY"
	monthFirst  dateForm = "MM/DD/YYYY"
	unixSeconds dateForm = "unix"
)

// Years outside of these are taken for mistakes of the vendor.
const firstYear, lastYear = 1990, 2100

// parseDay returns the days since 1970, or 0 when text is no date. The time after the date is ignored.
func (f dateForm) parseDay(text string) int32 {
	var at time.Time
	var err error
	layout := map[dateForm]string{isoDates: time.DateOnly, dayFirst: "02/01/2006", monthFirst: "01/02/2006"}[f]
	switch {
	case f == unixSeconds:
		var seconds int64
		for _, c := range text {
			if c < '0' || c > '9' || len(text) > 11 {
				return 0
			}
			seconds = seconds*10 + int64(c-'0')
		}
		at = time.Unix(seconds, 0).UTC()
	case len(text) < len(layout) || len(text) > len(layout) && strings.IndexByte("T ", text[len(layout)]) < 0:
		return 0
	default:
		at, err = time.Parse(layout, text[:len(layout)])
	}
	if err != nil || at.Year() < firstYear || at.Year() > lastYear {
		return 0
	}
	return int32(at.Unix() / 86400)
}

// Version is that of the form that is read.
const Version = 1

// Longest is how long a line may be.
const Longest = 1 << 20

// Summary is what a text said and held.
type Summary struct {
	// Breach is what the header tells of the breach, as JSON; nil when it tells nothing.
	Breach json.RawMessage
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

// text is a text being read.
type text struct {
	ctx   context.Context //nolint:containedctx // of this reading, and no longer than it
	build builder
	wrong Wrong
	begun bool
	sum   Summary
}

// refuseLine tells of a line that is not taken.
func (t *text) refuseLine(line int64, why *fault.Error) error {
	t.sum.Wrong++
	return t.wrong(line, why)
}

// eachLine calls take with each line that is not empty.
func (t *text) eachLine(r io.Reader, take func(number int64, line []byte) error) error {
	lines := bufio.NewReaderSize(r, 64<<10)
	var long []byte
	for number := int64(1); ; number++ {
		if number%1024 == 0 && t.ctx.Err() != nil {
			return t.ctx.Err()
		}
		line, err := lines.ReadSlice('\n')
		for long = long[:0]; errors.Is(err, bufio.ErrBufferFull); line, err = lines.ReadSlice('\n') {
			if len(long) <= Longest {
				long = append(long, line...)
			}
		}
		if len(long) > 0 {
			line = append(long, line...)
			long = line
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if number == 1 {
			line = bytes.TrimPrefix(line, bom)
		}
		if len(line) > Longest {
			if err := t.refuseLine(number, ErrRecord.Note("line: at most %d bytes", Longest)); err != nil {
				return err
			}
		} else if line = bytes.TrimSpace(line); len(line) > 0 {
			if err := take(number, line); err != nil {
				return err
			}
		}
		if err != nil {
			return nil // its end
		}
	}
}

// parseObject reads a line as one JSON object.
func parseObject(line []byte) (map[string]any, *fault.Error) {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	var members map[string]any
	if err := decoder.Decode(&members); err != nil || members == nil {
		return nil, ErrRecord.Note("line: one JSON object")
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, ErrRecord.Note("line: one JSON object, and nothing after it")
	}
	return members, nil
}

// takeLine takes a line of vigia-records.
func (t *text) takeLine(number int64, line []byte) error {
	members, why := parseObject(line)
	if !t.begun {
		if t.begun = true; why == nil {
			why = t.takeHeader(members)
		}
		if why != nil {
			return ErrText.Note("line %d: %s", number, why.Detail())
		}
		return nil
	}
	if why == nil {
		why = t.takeRecord(members)
	}
	if why != nil {
		return t.refuseLine(number, why)
	}
	t.sum.Records++
	return nil
}

// takeHeader takes the first line.
func (t *text) takeHeader(members map[string]any) *fault.Error {
	if version, ok := members["vigia_records"].(json.Number); !ok || version.String() != "1" {
		return ErrText.Note(`vigia_records: the first line is {"vigia_records": 1}`)
	}
	for name, value := range members {
		switch name {
		case "vigia_records":
		case "breach":
			if _, ok := value.(map[string]any); !ok {
				return ErrText.Note("breach: a JSON object")
			}
			told, err := json.Marshal(value)
			if err != nil {
				return ErrText.Note("breach: a JSON object")
			}
			t.sum.Breach = told
		default:
			return ErrText.Note("%s: the first line has vigia_records and breach", printableName(name))
		}
	}
	return nil
}

// takeRecord takes a record, all of it or nothing.
func (t *text) takeRecord(members map[string]any) *fault.Error {
	t.build.resetRecord()
	for _, name := range Members() { // in one order, so that of two faults always the same is told
		if value, ok := members[name]; ok {
			if why := t.takeMember(name, value, true); why != nil {
				return why
			}
		}
	}
	for name := range members {
		if !isMember(name) {
			return ErrRecord.Note(
				"%s: not a member of a record; there are %s",
				printableName(name),
				strings.Join(Members(), ", "),
			)
		}
	}
	return t.build.handOut()
}

// takeMember takes a value, or each of a list.
func (t *text) takeMember(name string, value any, lists bool) *fault.Error {
	switch v := value.(type) {
	case nil:
		return nil
	case bool:
		if v {
			return t.build.noteMember(name)
		}
		return nil
	case string:
		if strings.TrimSpace(v) == "" {
			return nil
		}
		return t.build.putValue(name, v, isoDates)
	case []any:
		if !lists || name == memberSite || name == memberInfected {
			return ErrRecord.Note("%s: a string", name)
		}
		for _, one := range v {
			if why := t.takeMember(name, one, false); why != nil {
				return why
			}
		}
		return nil
	}
	return ErrRecord.Note("%s: a string, a list of strings, or true", name)
}

// printableName returns a member's name as it was sent, if it is safe to repeat in an error: a name should hold no
// personal data, but a supplier may send anything.
func printableName(name string) string {
	const longest = 40
	if len(name) > longest || strings.ContainsFunc(name, func(c rune) bool { return c < ' ' || c > '~' }) ||
		strings.ContainsAny(name, "@") {
		return "a member"
	}
	digits := 0
	for _, c := range name {
		if c >= '0' && c <= '9' {
			digits++
		}
	}
	if digits > 4 {
		return "a member"
	}
	return name
}
