package stated

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Vendors' exports are what they are: a value that is none of its kind is left out and told of, and the rest of its
// record stands.

// readExport hands out the records of an export.
func (m *Mapping) readExport(t *text, r io.Reader) error {
	switch m.form {
	case formCSV:
		return m.readTable(t, r)
	case formLines:
		return t.eachLine(r, func(number int64, line []byte) error {
			members, why := parseObject(line)
			if why != nil {
				return t.refuseLine(number, why)
			}
			return m.takeRecord(t, number, func(f *mappedField, put func(any) *fault.Error) *fault.Error {
				return eachAlong(members, f.path, put)
			})
		})
	case formList:
		return m.readList(t, r)
	case formFixed:
		return t.eachLine(r, func(number int64, line []byte) error {
			return m.takeRecord(t, number, func(f *mappedField, put func(any) *fault.Error) *fault.Error {
				return put(cutColumn(line, f.from, f.to))
			})
		})
	}
	return ErrMapping.Note("line 1: format: is needed")
}

// cutColumn returns the characters of a line from one place up to another; what is no UTF-8 has a character a byte.
func cutColumn(line []byte, from, to int) string {
	if !utf8.Valid(line) {
		return string(line[min(from, len(line)):min(to, len(line))])
	}
	characters := []rune(string(line))
	return string(characters[min(from, len(characters)):min(to, len(characters))])
}

// takeRecord puts one record together out of what get finds of each field.
func (m *Mapping) takeRecord(
	t *text, line int64, get func(f *mappedField, put func(any) *fault.Error) *fault.Error,
) error {
	t.build.resetRecord()
	var first *fault.Error
	for i := range m.fields {
		f := &m.fields[i]
		why := get(f, func(value any) *fault.Error {
			why := m.putField(t, f, value)
			if why != nil {
				t.sum.LeftOut++
			}
			return why
		})
		if why != nil && first == nil {
			first = why
		}
	}
	if len(t.build.ids) > 0 || first == nil {
		if why := t.build.handOut(); why != nil {
			first = why
		} else {
			t.sum.Records++
		}
	}
	if first != nil {
		return t.refuseLine(line, first)
	}
	return nil
}

// putField takes a value of a field, if it is one.
func (m *Mapping) putField(t *text, f *mappedField, value any) *fault.Error {
	var plain string
	switch v := value.(type) {
	case bool:
		if v {
			return t.build.noteMember(f.member)
		}
		return nil
	case string:
		plain = v
	case json.Number:
		plain = v.String()
	case nil:
		return nil
	default:
		return ErrRecord.Note("%s: a text, a number, true, or a list of them", printableName(f.name))
	}
	if f.member != memberPassword {
		plain = strings.TrimSpace(plain)
	}
	if strings.TrimSpace(plain) == "" || slices.Contains(m.empty, plain) {
		return nil
	}
	switch f.member {
	case "cpf":
		plain = padDigits(plain, cpfDigits)
	case memberEither:
		return t.build.putEither(plain)
	}
	return t.build.putValue(f.member, plain, m.dates)
}

// putEither takes the number of a person or of a company: what its check digits say.
func (b *builder) putEither(plain string) *fault.Error {
	if b.putValue("cpf", padDigits(plain, cpfDigits), isoDates) == nil ||
		b.putValue("cnpj", padDigits(plain, cnpjDigits), isoDates) == nil {
		return nil
	}
	return ErrRecord.Note("%s: neither a CPF nor a CNPJ", memberEither)
}

const cpfDigits, cnpjDigits = 11, 14

// padDigits gives a number back the zeros that it begins with and that a table of numbers lost. Check digits tell a
// wrong one.
func padDigits(text string, length int) string {
	if len(text) >= length || len(text) < length-5 || strings.Trim(text, "0123456789") != "" {
		return text
	}
	return strings.Repeat("0", length-len(text)) + text
}

// eachAlong goes down a path through objects, and through all members of lists.
func eachAlong(value any, path []string, put func(any) *fault.Error) *fault.Error {
	switch v := value.(type) {
	case []any:
		var first *fault.Error
		for _, one := range v {
			if why := eachAlong(one, path, put); why != nil && first == nil {
				first = why
			}
		}
		return first
	case map[string]any:
		if len(path) == 0 {
			return put(value)
		}
		for n := len(path); n > 0; n-- { // names may have dots of their own
			if next, ok := v[strings.Join(path[:n], ".")]; ok {
				return eachAlong(next, path[n:], put)
			}
		}
		return nil
	}
	if len(path) > 0 {
		return nil
	}
	return put(value)
}

// readTable reads a CSV file by the names in its first line. It refuses a table that lacks a mapped column; a row with
// another number of columns is refused alone.
func (m *Mapping) readTable(t *text, r io.Reader) error {
	table := csv.NewReader(r)
	table.Comma, table.FieldsPerRecord, table.LazyQuotes, table.ReuseRecord = m.separator, -1, true, true
	heads, err := table.Read()
	if errors.Is(err, io.EOF) {
		return ErrText.Note("line 1: columns: the file is empty")
	}
	if err != nil {
		return unlessForm(err)
	}
	places, count := map[string]int{}, len(heads)
	for i, head := range heads {
		if i == 0 {
			head = strings.TrimPrefix(head, string(bom))
		}
		places[strings.TrimSpace(head)] = i
	}
	for _, f := range m.fields {
		if _, ok := places[f.name]; !ok {
			return ErrText.Note("line 1: %s: the table has no such column", printableName(f.name))
		}
	}
	for {
		row, err := table.Read()
		if errors.Is(err, io.EOF) {
			return t.ctx.Err()
		}
		if err != nil {
			return unlessForm(err)
		}
		line, _ := table.FieldPos(0)
		if line%1024 == 0 && t.ctx.Err() != nil {
			return t.ctx.Err()
		}
		if len(row) != count {
			why := ErrRecord.Note("row: as many columns as the first line has")
			if err := t.refuseLine(int64(line), why); err != nil {
				return err
			}
			continue
		}
		err = m.takeRecord(t, int64(line), func(f *mappedField, put func(any) *fault.Error) *fault.Error {
			return put(row[places[f.name]])
		})
		if err != nil {
			return err
		}
	}
}

// unlessForm tells a broken table from a broken source.
func unlessForm(err error) error {
	var broken *csv.ParseError
	if errors.As(err, &broken) {
		return ErrText.Note("line %d: row: not one of a table with this separator", broken.Line)
	}
	return err
}

// readList reads a JSON list one object at a time, so that the file may be larger than memory.
func (m *Mapping) readList(t *text, r io.Reader) error {
	decoder := json.NewDecoder(r)
	decoder.UseNumber()
	if first, err := decoder.Token(); err != nil || first != json.Delim('[') {
		return unlessSource(err, ErrText.Note("line 1: file: a JSON list of objects"))
	}
	for number := int64(1); decoder.More(); number++ {
		if number%1024 == 0 && t.ctx.Err() != nil {
			return t.ctx.Err()
		}
		var members map[string]any
		if err := decoder.Decode(&members); err != nil {
			return unlessSource(err, ErrText.Note("record %d: not a JSON object", number))
		}
		err := m.takeRecord(
			t,
			number,
			func(f *mappedField, put func(any) *fault.Error) *fault.Error { return eachAlong(members, f.path, put) },
		)
		if err != nil {
			return err
		}
	}
	if _, err := decoder.Token(); err != nil {
		return unlessSource(err, ErrText.Note("file: the list does not end"))
	}
	return nil
}

// unlessSource returns what is wrong with the text, unless it was its source that failed.
func unlessSource(err error, text *fault.Error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &syntax) ||
		errors.As(err, &kind) {
		return text
	}
	return err
}
