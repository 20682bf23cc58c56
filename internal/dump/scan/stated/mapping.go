package stated

import (
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// ErrMapping is a mapping that cannot be used: its detail names the line, the field and the rule.
var ErrMapping = fault.New(fault.Invalid, "mapping.invalid")

// Mapping says which fields of a vendor's export are which members of a record.
type Mapping struct {
	// Vendor is who makes such exports, for people.
	Vendor string
	form   vendorForm
	// separator parts the columns of a table.
	separator rune
	dates     dateForm
	// empty are the texts that stand for no value.
	empty  []string
	fields []mappedField
	text   string
}

// vendorForm is the file format of a vendor's records.
type vendorForm string

const (
	formCSV   vendorForm = "csv"   // a table whose first line names the columns
	formLines vendorForm = "jsonl" // a JSON object in each line
	formList  vendorForm = "json"  // one JSON list of objects
)

// mappedField is a column, or a way through JSON objects and lists, and what stands there.
type mappedField struct {
	name   string
	path   []string
	member string
}

// maxMapping bounds a mapping's file.
const maxMapping = 64 << 10

// ParseMapping reads a mapping in YAML.
func ParseMapping(text []byte) (*Mapping, error) {
	if len(text) > maxMapping {
		return nil, ErrMapping.Note("line 1: file: at most %d bytes", maxMapping)
	}
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		line := 1
		if y := yaml.Error(nil); errors.As(err, &y) && y.GetToken() != nil {
			line = y.GetToken().Position.Line
		}
		return nil, ErrMapping.Note("line %d: file: not YAML", line).Because(err)
	}
	if len(file.Docs) != 1 {
		return nil, ErrMapping.Note("line 1: file: one YAML document")
	}
	m := &Mapping{separator: ',', dates: isoDates, empty: []string{"NULL", "null", `\N`}, text: string(text)}
	given, why := members(file.Docs[0].Body)
	if why != nil {
		return nil, why
	}
	for _, g := range given {
		if why := m.setMember(g); why != nil {
			return nil, why
		}
	}
	return m, m.checkMapping(given)
}

// Text returns the mapping as it was written, and Mark tells it from others.
func (m *Mapping) Text() string { return m.text }

// Mark is short and changes when the mapping does.
func (m *Mapping) Mark() string {
	sum := sha256.Sum256([]byte(m.text))
	return hex.EncodeToString(sum[:8])
}

// given is a member of a YAML map.
type given struct {
	name  string
	line  int
	value ast.Node
}

// newFault returns the fault of a setting of the mapping.
func (g given) newFault(rule string, args ...any) *fault.Error {
	return ErrMapping.Note("line %d: %s: %s", g.line, printableName(g.name), ErrMapping.Note(rule, args...).Detail())
}

// members reads a map; a name that comes twice is refused.
func members(node ast.Node) ([]given, *fault.Error) {
	in, ok := node.(ast.MapNode)
	if !ok {
		return nil, ErrMapping.Note("line 1: file: a YAML map")
	}
	var list []given
	for it := in.MapRange(); it.Next(); {
		key := it.Key().GetToken()
		g := given{name: key.Value, line: key.Position.Line, value: it.Value()}
		if slices.ContainsFunc(list, func(o given) bool { return o.name == g.name }) {
			return nil, g.newFault("stands here twice")
		}
		list = append(list, g)
	}
	return list, nil
}

// readScalar reads a text.
func (g given) readScalar() (string, *fault.Error) {
	switch v := g.value.(type) {
	case *ast.StringNode:
		return v.Value, nil
	case *ast.IntegerNode:
		return v.GetToken().Value, nil
	}
	return "", g.newFault("a text")
}

// setMember takes one setting of the mapping.
func (m *Mapping) setMember(g given) *fault.Error {
	if g.name == "fields" {
		return m.setFields(g)
	}
	if g.name == "empty" {
		return m.setEmpty(g)
	}
	if !slices.Contains([]string{"vigia_mapping", "vendor", "format", "separator", "dates"}, g.name) {
		return g.newFault("not known; there are vigia_mapping, vendor, format, separator, dates, empty, fields")
	}
	value, why := g.readScalar()
	if why != nil {
		return why
	}
	switch g.name {
	case "vigia_mapping":
		if value != "1" {
			return g.newFault("1, the only version there is")
		}
	case "vendor":
		m.Vendor = value
	case "format":
		m.form = vendorForm(value)
		if !slices.Contains([]vendorForm{formCSV, formLines, formList}, m.form) {
			return g.newFault("one of csv, jsonl, json")
		}
	case "separator":
		if value == "tab" {
			value = "\t"
		}
		runes := []rune(value)
		if len(runes) != 1 || strings.ContainsAny(value, "\"\r\n") {
			return g.newFault("one character, or tab")
		}
		m.separator = runes[0]
	case "dates":
		m.dates = dateForm(value)
		if !slices.Contains([]dateForm{isoDates, dayFirst, monthFirst, unixSeconds}, m.dates) {
			return g.newFault("one of YYYY-MM-DD, DD/MM/YYYY, MM/DD/YYYY, unix")
		}
	}
	return nil
}

// setEmpty sets the texts that mean that a value is missing, such as "null" or "-". It replaces the default ones.
func (m *Mapping) setEmpty(g given) *fault.Error {
	list, ok := g.value.(*ast.SequenceNode)
	if !ok {
		return g.newFault("a list of texts")
	}
	m.empty = nil
	for _, node := range list.Values {
		one := given{g.name, node.GetToken().Position.Line, node}
		text, why := one.readScalar()
		if why != nil {
			return why
		}
		m.empty = append(m.empty, text)
	}
	return nil
}

// setFields sets which field of the vendor is which member of a record. It refuses a member that does not exist, so
// that a misspelt one is not lost silently.
func (m *Mapping) setFields(g given) *fault.Error {
	fields, why := members(g.value)
	if why != nil {
		return g.newFault("a map of the vendor's fields to members of a record")
	}
	for _, f := range fields {
		member, why := f.readScalar()
		if why != nil {
			return why
		}
		if !isMember(member) && member != memberEither {
			return f.newFault(
				"no member of a record is called so; there are %s, %s",
				strings.Join(Members(), ", "),
				memberEither,
			)
		}
		m.fields = append(m.fields, mappedField{f.name, strings.Split(f.name, "."), member})
	}
	return nil
}

// checkMapping looks at the mapping as a whole.
func (m *Mapping) checkMapping(all []given) error {
	for _, needed := range []string{"vigia_mapping", "format", "fields"} {
		if !slices.ContainsFunc(all, func(g given) bool { return g.name == needed }) {
			return ErrMapping.Note("line 1: %s: is needed", needed)
		}
	}
	for _, g := range all {
		switch {
		case g.name == "separator" && m.form != formCSV:
			return g.newFault("only for csv")
		case g.name == "fields" && !slices.ContainsFunc(m.fields, func(f mappedField) bool {
			_, names := identifiers[f.member]
			return names || f.member == memberEither
		}):
			return g.newFault("at least one has to be email, cpf, phone, card, pix_key, cnpj or cpf_or_cnpj")
		}
	}
	return nil
}

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
			return m.takeRecord(
				t,
				number,
				func(f *mappedField, put func(any) *fault.Error) *fault.Error {
					return eachAlong(members, f.path,
						put)
				},
			)
		})
	case formList:
		return m.readList(t, r)
	}
	return ErrMapping.Note("line 1: format: is needed")
}

// takeRecord puts one record together out of what get finds of each field.
func (m *Mapping) takeRecord(
	t *text,
	line int64,
	get func(f *mappedField, put func(any) *fault.Error) *fault.Error,
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
			if err := t.refuseLine(
				int64(line),
				ErrRecord.Note("row: as many columns as the first line has"),
			); err != nil {
				return err
			}
			continue
		}
		err = m.takeRecord(
			t,
			int64(line),
			func(f *mappedField, put func(any) *fault.Error) *fault.Error { return put(row[places[f.name]]) },
		)
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
