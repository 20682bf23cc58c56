// Command generate writes the types and methods of the clients in Go, TypeScript and Python from the partner contract:
// every operation has one, of the same name, with the same arguments in the same order. What a document cannot say
// (attempts, pages, webhooks) is written by hand beside them.
package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
)

//go:generate go run .

// documentFile is the contract from which everything here is made.
const documentFile = "../../internal/web/api/openapi.yaml"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// run generates the files of all clients and overwrites them in the repository.
func run() error {
	text, err := os.ReadFile(documentFile)
	if err != nil {
		return err
	}
	files, err := renderFiles(text)
	if err != nil {
		return err
	}
	for name, content := range files {
		//nolint:gosec // a file of the repository, for everybody
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Where the clients are.
const (
	goFolder     = "../../client/"
	scriptFolder = "../typescript/src/"
	pythonFolder = "../python/src/vigia_client/"
)

// renderFiles is what the files hold, by name. The same contract gives the same bytes.
func renderFiles(text []byte) (map[string]string, error) {
	d, err := parseDocument(text)
	if err != nil {
		return nil, err
	}
	t := &types{document: d, known: map[string]bool{}}
	methods := t.listMethods()
	operations, err := goOperations(methods)
	t.errs = append(t.errs, err)
	schemas, err := goSchemas(t.definitions)
	t.errs = append(t.errs, err)
	codes := t.errorCodes()
	goConstants, err := goCodes(codes)
	t.errs = append(t.errs, err)
	return map[string]string{
		goFolder + "codes.go":      goConstants,
		scriptFolder + "codes.ts":  scriptCodes(codes),
		pythonFolder + "codes.py":  pythonCodes(codes),
		goFolder + "operations.go": operations,
		goFolder + "schemas.go":    schemas,
		scriptFolder + "operations.ts": scriptOperations(
			methods,
			t.definitions,
		),
		scriptFolder + "schemas.ts": scriptSchemas(t.definitions),
		pythonFolder + "operations.py": pythonOperations(
			methods,
			t.definitions,
		),
		pythonFolder + "schemas.py": pythonSchemas(t.definitions),
	}, errors.Join(t.errs...)
}

// The parts of an OpenAPI document that a client is made of.
type (
	document struct {
		Paths      ordered[ordered[operation]]
		Components struct {
			Schemas    map[string]*schema
			Parameters map[string]*parameter
		}
	}
	operation struct {
		ID                   string `yaml:"operationId"`
		Summary, Description string
		Parameters           []*parameter
		RequestBody          content `yaml:"requestBody"`
		Responses            map[string]content
	}
	content struct {
		Content struct {
			JSON struct {
				Schema *schema
			} `yaml:"application/json"`
		}
	}
	parameter struct {
		Ref      string `yaml:"$ref"`
		Name, In string
		Required bool
		Schema   *schema
	}
	schema struct {
		Ref         string `yaml:"$ref"`
		Type        any    // a name, or a list of them
		Const       any
		Enum        []any
		MultipleOf  any `yaml:"multipleOf"`
		Description string
		Properties  ordered[*schema]
		Required    []string
		Items       *schema
		AllOf       []*schema `yaml:"allOf"`
		AnyOf       []*schema `yaml:"anyOf"`
		OneOf       []*schema `yaml:"oneOf"`
		Additional  any       `yaml:"additionalProperties"`
	}
)

// ordered is a mapping in the document's order, which is also the reader's.
type ordered[T any] []entry[T]

// entry is a name and its value in an ordered map.
type entry[T any] struct {
	Name  string
	Value T
}

// UnmarshalYAML takes the names from one reading and the values from another.
func (o *ordered[T]) UnmarshalYAML(decode func(any) error) error {
	var names yaml.MapSlice
	if err := decode(&names); err != nil {
		return err
	}
	var values map[string]T
	if err := decode(&values); err != nil {
		return err
	}
	for _, item := range names {
		name := fmt.Sprint(item.Key)
		*o = append(*o, entry[T]{name, values[name]})
	}
	return nil
}

// parseDocument reads the API document. It refuses one without paths, from which an empty client would be generated.
func parseDocument(text []byte) (*document, error) {
	var d document
	if err := yaml.Unmarshal(text, &d); err != nil {
		return nil, err
	}
	if len(d.Paths) == 0 {
		return nil, errors.New("the document has no paths")
	}
	return &d, nil
}

// referred is the last part of a reference: all of ours lead to one kind of component.
func referred(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// parameter returns a parameter, or the one that its reference names.
func (d *document) parameter(p *parameter) (*parameter, error) {
	if p.Ref == "" {
		return p, nil
	}
	if found := d.Components.Parameters[referred(p.Ref)]; found != nil {
		return found, nil
	}
	return nil, fmt.Errorf("%s leads nowhere", p.Ref)
}

// typeNames are the types that a schema allows; none means anything.
func (s *schema) typeNames() []string {
	switch t := s.Type.(type) {
	case string:
		return []string{t}
	case []any:
		return spellEach(t, func(v any) string { return fmt.Sprint(v) })
	}
	return nil
}

// onlyNarrows tells a part of an allOf that adds nothing to a type: it requires nothing, and its members are constants.
func (s *schema) onlyNarrows() bool {
	for _, m := range s.Properties {
		if m.Value.Const == nil {
			return false
		}
	}
	return s.Ref == "" && len(s.Required) == 0 && len(s.AllOf) == 0
}

// madeFrom begins each generated file; linters and the count of lines skip files with it.
const madeFrom = "Code generated from internal/web/api/openapi.yaml by go generate ./clients/generate. DO NOT EDIT.\n"

// The first line of every file that is made.
const (
	goHeader     = "// " + madeFrom + "\n"
	scriptHeader = "// " + madeFrom
	pythonHeader = "# " + madeFrom
)

// widest is the longest line that is written.
const widest = 120

// keywords are words of the language that the document uses as names; self is taken by every method.
var keywords = map[string]bool{
	"from":   true,
	"self":   true,
	"class":  true,
	"import": true,
	"is":     true,
	"in":     true,
	"not":    true,
	"pass":   true,
}

// toSnakeCase is a name as Python spells it.
func toSnakeCase(name string) string {
	if name == "userhash" {
		return "user_hash"
	}
	var b strings.Builder
	for i, r := range strings.TrimPrefix(name, "x-") {
		switch {
		case r == '-':
			b.WriteByte('_')
		case unicode.IsUpper(r):
			if i > 0 {
				b.WriteByte('_')
			}
			b.WriteRune(unicode.ToLower(r))
		default:
			b.WriteRune(r)
		}
	}
	if keywords[b.String()] {
		b.WriteByte('_')
	}
	return b.String()
}

// capitalizeWord makes the name of a member a part of a class's name: not_created_items is NotCreatedItems.
func capitalizeWord(name string) string {
	var b strings.Builder
	for _, word := range strings.Split(name, "_") {
		r, size := utf8.DecodeRuneInString(word)
		if size > 0 {
			b.WriteRune(unicode.ToUpper(r))
			b.WriteString(word[size:])
		}
	}
	return b.String()
}

// pythonText is a literal of text in Python, in which no type of ours has anything to escape but quotes.
func pythonText(text string) string {
	if strings.Contains(text, `"`) {
		return "'" + text + "'"
	}
	return strconv.Quote(text)
}

// splitLines breaks a text into lines, paragraph by paragraph.
func splitLines(text, indent string) []string {
	var list []string
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if len(list) > 0 {
			list = append(list, "")
		}
		line := indent
		for _, word := range strings.Fields(paragraph) {
			if line != indent && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > widest {
				list, line = append(list, line), indent
			}
			if line != indent {
				line += " "
			}
			line += word
		}
		list = append(list, line)
	}
	return list
}

// formatComment is a text above what it is about, in the form that tools for documentation read.
func formatComment(text, indent string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	var b strings.Builder
	for _, line := range splitLines(strings.ReplaceAll(text, "\n\n", "\n"), indent+"#: ") {
		b.WriteString(line + "\n")
	}
	return b.String()
}

// docstring is a text as the first thing inside of what it is about.
func docstring(text, indent string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	open := `"""`
	if strings.Contains(text, `\`) {
		open = `r"""`
	}
	list := splitLines(open+text, indent)
	if len(list) == 1 && utf8.RuneCountInString(list[0])+3 <= widest {
		return list[0] + `"""` + "\n"
	}
	return strings.Join(list, "\n") + "\n" + indent + `"""` + "\n"
}

// writeTypeLines writes a type after its name, inside its outermost brackets on lines of their own where one line is
// too short.
func writeTypeLines(name, text, indent string) string {
	open := strings.IndexByte(text, '[')
	if utf8.RuneCountInString(name+text) <= widest || open < 0 {
		return name + text
	}
	var b strings.Builder
	b.WriteString(name + text[:open+1])
	room := 0
	items := strings.Split(text[open+1:len(text)-1], ", ") // no word of the contract holds a comma
	for i, item := range items {
		if room -= utf8.RuneCountInString(item) + 2; room < 0 {
			b.WriteString("\n" + indent + "   ")
			room = widest - len(indent) - 4 - utf8.RuneCountInString(item) - 2
		}
		b.WriteString(" " + item)
		// Optional takes one type: a comma at its end would make a tuple of it.
		if i < len(items)-1 || !strings.HasPrefix(text, "Optional[") {
			b.WriteString(",")
		}
	}
	return b.String() + "\n" + indent + "]"
}
