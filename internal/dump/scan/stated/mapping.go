package stated

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
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
	formFixed vendorForm = "fixed" // lines whose columns are told by the characters that they take
)

// mappedField is a column, or a way through JSON objects and lists, and what stands there.
type mappedField struct {
	name   string
	path   []string
	member string
	// from and to bound a column of fixed width, in characters.
	from, to int
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
		if !slices.Contains([]vendorForm{formCSV, formLines, formList, formFixed}, m.form) {
			return g.newFault("one of csv, jsonl, json, fixed")
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
		m.fields = append(m.fields, mappedField{name: f.name, path: strings.Split(f.name, "."), member: member})
	}
	return nil
}

// setWidths reads the fields of a table of fixed width, such as 1-11: the first and the last character of a column.
func (m *Mapping) setWidths(g given) *fault.Error {
	fields, why := members(g.value)
	if why != nil {
		return why
	}
	for i, g := range fields {
		f := &m.fields[i]
		first, last, _ := strings.Cut(f.name, "-")
		from, err := strconv.Atoi(first)
		to, failed := strconv.Atoi(last)
		if err != nil || failed != nil || from < 1 || to < from || to > Longest {
			return g.newFault("the first and the last character of a column, such as 1-11")
		}
		f.from, f.to = from-1, to
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
		case g.name == "fields" && m.form == formFixed:
			if why := m.setWidths(g); why != nil {
				return why
			}
		}
		switch {
		case g.name == "fields" && !slices.ContainsFunc(m.fields, func(f mappedField) bool {
			_, names := identifiers[f.member]
			return names || f.member == memberEither
		}):
			return g.newFault("at least one has to be email, cpf, phone, card, pix_key, cnpj or cpf_or_cnpj")
		}
	}
	return nil
}
