package stated_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/scan/record"
	"github.com/vigiahq/vigia/internal/dump/scan/stated"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// read tells what a text holds, a line for each identifier and for each line that was not taken.
func read(t *testing.T, r io.Reader, m *stated.Mapping) (told []string, sum stated.Summary, err error) {
	t.Helper()
	sum, err = stated.ReadRecords(context.Background(), r, m, func(s *record.Sighting) {
		var classes []string
		for i, e := range cyber.AllExposed() {
			if s.Classes.Has(1 << i) {
				classes = append(classes, string(e))
			}
		}
		told = append(
			told,
			fmt.Sprintf("%s %s [%s] %s %s %d", s.Kind, s.Normal, strings.Join(classes, " "), s.Password, s.Site, s.Day),
		)
	}, func(line int64, why *fault.Error) error {
		told = append(told, fmt.Sprintf("%d: %s", line, why.Detail()))
		return nil
	})
	return told, sum, err
}

func lines(list ...string) string { return strings.Join(list, "\n") + "\n" }

// TestNormalForm: a record says what its members say, all of it and nothing else, and a line that breaks a rule is told
// by line, field and rule.
func TestNormalForm(t *testing.T) {
	t.Parallel()
	text := lines(
		`{"vigia_records": 1}`,
		`{"email": "Ana@Exemplo.com.br", "password": "s3gredo", "site": "https://www.Loja.test/login", "infected": "2026-03-01"}`,
		``,
		`{"email": ["a@exemplo.com", "b@exemplo.com"], "cpf": "529.982.247-25", "name": true, "password": true, "health": "", "other": false, "phone": null}`,
		`{"pix_key": "123e4567-e89b-42d3-a456-426614174000", "cnpj": "12.ABC.345/01DE-35"}`,
		`{"email": "c@exemplo.com", "password": ["um", "dois"], "username": " "}`,
		`{"email": "nada"}`,
		`{"cpf": "529.982.247-26"}`,
		`{"cpf": 52998224725}`,
		`{"email": true}`,
		`{"name": "Ana"}`,
		`{"email": "d@exemplo.com", "senha": "x"}`,
		`{"email": "d@exemplo.com", "segredo-de-ana@exemplo.com": "x"}`,
		`{"email": "d@exemplo.com", "infected": "01/03/2026"}`,
		`{"email": "d@exemplo.com", "site": ["x"]}`,
		`{"email": "d@exemplo.com"} {"email": "e@exemplo.com"}`,
		`["email"]`,
		`{"email": "`+strings.Repeat("x", stated.Longest)+`"}`,
		`{"email": "fim@exemplo.com"}`,
	)
	told, sum, err := read(t, iotest.HalfReader(strings.NewReader("\xef\xbb\xbf"+text)), nil)
	if err != nil {
		t.Fatal(err)
	}
	members := "; there are " + strings.Join(stated.Members(), ", ")
	want := []string{
		"email ana@exemplo.com.br [email password] s3gredo loja.test 20513",
		"email a@exemplo.com [email password cpf name]   0",
		"email b@exemplo.com [email password cpf name]   0",
		"cpf 52998224725 [email password cpf name]   0",
		"pix_key 123e4567-e89b-42d3-a456-426614174000 [financial]   0",
		"cnpj 12ABC34501DE35 [financial other]   0",
		"email c@exemplo.com [email password]   0",
		"7: email: not one e-mail address",
		"8: cpf: check digits do not match",
		"9: cpf: a string, a list of strings, or true",
		"10: email: a value; true is for classes of data",
		"11: record: at least one of email, cpf, phone, card, pix_key, cnpj",
		"12: senha: not a member of a record" + members,
		"13: a member: not a member of a record" + members,
		"14: infected: a day, YYYY-MM-DD",
		"15: site: a string",
		"16: line: one JSON object, and nothing after it",
		"17: line: one JSON object",
		"18: line: at most 1048576 bytes",
		"email fim@exemplo.com [email]   0",
	}
	if !slices.Equal(told, want) {
		t.Errorf("told\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
	if sum.Records != 5 || sum.Wrong != 12 {
		t.Errorf("%+v", sum)
	}
}

// TestNotRecords: a text that does not say that it is one of records is none, and a source that fails is no bad text.
func TestNotRecords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                     "line 1: vigia_records: the first line is",
		`{"email": "ana@exemplo.com"}`:         "line 1: vigia_records: the first line is",
		`{"vigia_records": 2}`:                 "line 1: vigia_records: the first line is",
		`{"vigia_records": 1, "brecha": {}}`:   "line 1: brecha: the first line has vigia_records alone",
		"\n\n" + `{"vigia_records": 1} e mais`: "line 3: line: one JSON object, and nothing after it",
	} {
		if _, _, err := read(
			t,
			strings.NewReader(text),
			nil,
		); !errors.Is(err, stated.ErrText) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	failed := errors.New("the disk is gone")
	source := io.MultiReader(strings.NewReader(`{"vigia_records": 1}`+"\n"), iotest.ErrReader(failed))
	if _, _, err := read(t, source, nil); !errors.Is(err, failed) {
		t.Errorf("a source that fails: %v", err)
	}
	for head, is := range map[string]bool{
		`{"vigia_records": 1}`:               true,
		"\xef\xbb\xbf { \"vigia_records\":1": true,
		`{"email": "vigia_records"}`:         false,
		`vigia_records`:                      false,
		"":                                   false,
	} {
		if stated.IsStated([]byte(head)) != is {
			t.Errorf("%q: %t", head, !is)
		}
	}
}

const table = `vigia_mapping: 1
vendor: Nimbo Dados
format: csv
separator: ";"
dates: DD/MM/YYYY
empty: ["NULL", "-"]
fields:
  e_mail: email
  documento: cpf
  senha: password
  portal: site
  dt_infeccao: infected
`

// TestMappedTable: a vendor's table by its mapping. Values that are none are left out and told of; the rest stands.
func TestMappedTable(t *testing.T) {
	t.Parallel()
	m, err := stated.ParseMapping([]byte(table))
	if err != nil {
		t.Fatal(err)
	}
	number := "0" + "1234567890" // a table of numbers loses its zero
	text := lines(
		`id;senha;e_mail;documento;portal;dt_infeccao`,
		`1;"pa;ss";ana@exemplo.com;`+strings.TrimLeft(number, "0")+`;https://loja.test;05/03/2026 10:00`,
		`2;NULL;bia@exemplo.com;191;-;`,
		`3;x;nada;;;`,
		`4;x;caio@exemplo.com;52998224726;;`,
		`5;x;davi@exemplo.com`,
	)
	told, sum, err := read(t, strings.NewReader(text), m)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"email ana@exemplo.com [email password cpf] pa;ss loja.test 20517",
		"cpf " + number + " [email password cpf] pa;ss loja.test 20517",
		"email bia@exemplo.com [email]   0",
		"3: cpf: wrong length",
		"4: email: not one e-mail address",
		"email caio@exemplo.com [email password] x  0",
		"5: cpf: check digits do not match",
		"6: row: as many columns as the first line has",
	}
	if !slices.Equal(told, want) || sum.Records != 3 || sum.Wrong != 4 || sum.LeftOut != 3 {
		t.Errorf("told\n%s\nwant\n%s\n%+v", strings.Join(told, "\n"), strings.Join(want, "\n"), sum)
	}
	if _, _, err := read(
		t,
		strings.NewReader("id;e_mail\n"),
		m,
	); !errors.Is(err, stated.ErrText) ||
		!strings.Contains(err.Error(), "line 1: documento: the table has no such column") {
		t.Errorf("another table: %v", err)
	}
}

// TestMappedWidths: columns without anything between them by the characters that they take, in UTF-8 and in a coding of
// one byte a character. A line that ends early has what stands in it.
func TestMappedWidths(t *testing.T) {
	t.Parallel()
	m, err := stated.ParseMapping([]byte(`vigia_mapping: 1
format: fixed
dates: unix
fields:
  1-11: cpf
  12-21: name
  22-41: email
`))
	if err != nil {
		t.Fatal(err)
	}
	text := lines(
		"52998224725Ana Conceiana@exemplo.com     resto",
		"  123456790",
		"12345678909João Çã   joao@exemplo.com",
		"12345678909Jo\xe3o \xc7\xe3   joca@exemplo.com",
		"00000000000Ninguém   -                   ",
	)
	told, sum, err := read(t, strings.NewReader(text), m)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"cpf 52998224725 [email cpf name]   0",
		"email ana@exemplo.com [email cpf name]   0",
		"2: cpf: check digits do not match",
		"cpf 12345678909 [email cpf name]   0",
		"email joao@exemplo.com [email cpf name]   0",
		"cpf 12345678909 [email cpf name]   0",
		"email joca@exemplo.com [email cpf name]   0",
		"5: cpf: one repeated character",
	}
	if !slices.Equal(told, want) || sum.Records != 3 || sum.Wrong != 2 {
		t.Errorf("told\n%s\nwant\n%s\n%+v", strings.Join(told, "\n"), strings.Join(want, "\n"), sum)
	}
}

// TestPersonOrCompany: a column of CPFs and CNPJs, with zeros lost and without, is told apart by check digits.
func TestPersonOrCompany(t *testing.T) {
	t.Parallel()
	m, err := stated.ParseMapping([]byte("vigia_mapping: 1\nformat: csv\nfields:\n  doc: cpf_or_cnpj\n"))
	if err != nil {
		t.Fatal(err)
	}
	told, sum, err := read(
		t,
		strings.NewReader(
			lines("doc", "529.982.247-25", "52998224725", "11.222.333/0001-81", "1122233000120", "191", "52998224726"),
		),
		m,
	)
	want := []string{
		"cpf 52998224725 [cpf]   0",
		"cpf 52998224725 [cpf]   0",
		"cnpj 11222333000181 [other]   0",
		"cnpj 01122233000120 [other]   0", // which a table of numbers took its zero
		"6: cpf_or_cnpj: neither a CPF nor a CNPJ",
		"7: cpf_or_cnpj: neither a CPF nor a CNPJ",
	}
	if err != nil || !slices.Equal(told, want) || sum.LeftOut != 2 {
		t.Errorf("%v: told\n%s\n%+v", err, strings.Join(told, "\n"), sum)
	}
}

// TestMappedJSON: ways through objects and lists, in lines and in one list.
func TestMappedJSON(t *testing.T) {
	t.Parallel()
	mapping := "vigia_mapping: 1\nformat: %s\ndates: unix\nfields:\n  user.emails: email\n  user.doc: cpf\n  " +
		"creds.pass: password\n  has.cookies: cookies\n  creds.at: infected\n  a.b: name\n"
	objects := []string{
		`{"user": {"emails": ["ana@exemplo.com", "bia@exemplo.com"], "doc": 52998224725}, "creds": [{"pass": "um", "at": 1772323200}], "has": {"cookies": true}}`,
		`{"user": [{"emails": "caio@exemplo.com"}], "creds": {"pass": ["um", "dois"]}, "a.b": "Caio"}`,
		`{"user": {"emails": {"x": 1}}}`,
	}
	want := []string{
		"email ana@exemplo.com [email password cpf cookies] um  20513",
		"email bia@exemplo.com [email password cpf cookies] um  20513",
		"cpf 52998224725 [email password cpf cookies] um  20513",
		"email caio@exemplo.com [email password name]   0",
		"3: user.emails: a text, a number, true, or a list of them",
	}
	for format, text := range map[string]string{"jsonl": lines(objects...), "json": "[" + strings.Join(objects, ",\n") +
		"]"} {
		m, err := stated.ParseMapping(fmt.Appendf(nil, mapping, format))
		if err != nil {
			t.Fatal(err)
		}
		if told, _, err := read(t, strings.NewReader(text), m); err != nil || !slices.Equal(told, want) {
			t.Errorf("%s: %v, told\n%s", format, err, strings.Join(told, "\n"))
		}
		if format == "json" {
			if _, _, err := read(t, strings.NewReader(text[:len(text)-1]), m); !errors.Is(err, stated.ErrText) {
				t.Errorf("a list that does not end: %v", err)
			}
		}
	}
}

// TestWrongMappings: a mapping that cannot be used names line, field and rule.
func TestWrongMappings(t *testing.T) {
	t.Parallel()
	const good = "vigia_mapping: 1\nformat: csv\nfields:\n  a: email\n"
	for text, want := range map[string]string{
		good + "  b: senha\n":                                          "line 5: b: no member of a record is called so; there are email, cpf",
		good + "separator: ';;'\n":                                     "line 5: separator: one character, or tab",
		good + "dates: ontem\n":                                        "line 5: dates: one of YYYY-MM-DD",
		good + "campos: {}\n":                                          "line 5: campos: not known; there are",
		good + "empty: x\n":                                            "line 5: empty: a list of texts",
		good + "vendor: [x]\n":                                         "line 5: vendor: a text",
		good + "format: csv\n":                                         "format",
		"vigia_mapping: 2\n":                                           "line 1: vigia_mapping: 1, the only version there is",
		"vigia_mapping: 1\nformat: xml\n":                              "line 2: format: one of csv, jsonl, json, fixed",
		"vigia_mapping: 1\nformat: fixed\nfields:\n  cpf: cpf\n":       "line 4: cpf: the first and the last character of a column",
		"vigia_mapping: 1\nformat: fixed\nfields:\n  11-1: cpf\n":      "line 4: 11-1: the first and the last character",
		"vigia_mapping: 1\nformat: fixed\nfields:\n  0-11: cpf\n":      "line 4: 0-11: the first and the last character",
		"fields:\n  x-2: cpf\nvigia_mapping: 1\nformat: fixed\n":       "line 2: x-2: the first and the last character",
		"vigia_mapping: 1\nformat: fixed\nfields:\n  1-9999999: cpf\n": "line 4: ",
		"vigia_mapping: 1\nformat: csv\n":                              "line 1: fields: is needed",
		"format: csv\nfields:\n  a: email\n":                           "line 1: vigia_mapping: is needed",
		"vigia_mapping: 1\nfields: x\n":                                "line 2: fields: a map of the vendor's fields",
		"- x\n":                                                        "line 1: file: a YAML map",
		"a: [\n":                                                       "file: not YAML",
		strings.Repeat("# x\n", 20_000):                                "line 1: file: at most",
		"vigia_mapping: 1\nformat: jsonl\nseparator: ';'\nfields:\n  a: email\n": "line 3: separator: only for csv",
		"vigia_mapping: 1\nformat: csv\nfields:\n  a: password\n": "line 3: fields: at least one " +
			"has to be email",
	} {
		m, err := stated.ParseMapping([]byte(text))
		if !errors.Is(err, stated.ErrMapping) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want %s", text[:min(len(text), 60)], m, err, want)
		}
	}
}

// TestDocumentedForm: the page, its examples and the schema say what is read.
func TestDocumentedForm(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../../docs/formats/vigia-records.md")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := os.ReadFile("../../../../docs/formats/vigia-records.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Definitions struct {
			Record struct {
				Properties map[string]any `json:"properties"`
			} `json:"record"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(schema, &document); err != nil {
		t.Fatal(err)
	}
	for _, name := range stated.Members() {
		if _, ok := document.Definitions.Record.Properties[name]; !ok || !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("%s is not in the schema, or not on the page", name)
		}
	}
	if len(document.Definitions.Record.Properties) != len(stated.Members()) {
		t.Error("the schema has members that are not read")
	}
	blocks := regexp.MustCompile("(?s)```(json|yaml|csv|text)\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	var m *stated.Mapping
	records, mappings := 0, 0
	for _, b := range blocks {
		switch {
		case b[1] == "yaml":
			if m, err = stated.ParseMapping([]byte(b[2])); err != nil {
				t.Errorf("%v in\n%s", err, b[2])
			}
			mappings++
		case b[1] == "json", b[1] == "csv":
			by := m
			if stated.IsStated([]byte(b[2])) {
				by = nil
			}
			told, sum, err := read(t, strings.NewReader(b[2]), by)
			if err != nil || sum.Wrong != 0 || sum.Records == 0 {
				t.Errorf("%v, %+v: %v\n%s", err, sum, told, b[2])
			}
			records++
		}
	}
	if records < 3 || mappings < 2 {
		t.Errorf("%d texts of records and %d mappings were tried", records, mappings)
	}
}
