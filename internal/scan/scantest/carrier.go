package scantest

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// Carrier writes rows of cells into a text.
type Carrier struct {
	Name string
	// Named carriers have names for their values.
	Named bool
	Write func(rows [][]Cell) []byte
}

// Carriers are the texts that spellings are put into.
var Carriers = []Carrier{
	{"comma", true, func(rows [][]Cell) []byte { return separatedRows(rows, ',', false) }},
	{"semicolon", true, func(rows [][]Cell) []byte { return separatedRows(rows, ';', false) }},
	{"tab", true, func(rows [][]Cell) []byte { return separatedRows(rows, '\t', false) }},
	{"all in quotes", true, func(rows [][]Cell) []byte { return separatedRows(rows, ',', true) }},
	{"one column", true, oneColumn},
	{"JSON lines", true, func(rows [][]Cell) []byte { return objects(rows, false) }},
	{"JSON list", true, func(rows [][]Cell) []byte { return objects(rows, true) }},
	{"INSERT", true, func(rows [][]Cell) []byte { return statements(rows, false) }},
	{"mysqldump", true, func(rows [][]Cell) []byte { return statements(rows, true) }},
	{"COPY", true, copyRows},
	{"labels", true, labelledRows},
	{"key=value", true, keyValues},
	{"XML", true, xmlRows},
	{"lines", false, lines},
	{"sentences", false, sentences},
	{"HTML table", false, htmlRows},
	{"no header", false, func(rows [][]Cell) []byte {
		return separatedRows(rows, ';', false)[len("nome;;cidade\n")+namesLen(rows):]
	}},
}

func namesLen(rows [][]Cell) (n int) {
	for i, c := range rows[0] {
		if n += len(c.Name); i > 0 {
			n++
		}
	}
	return n
}

// around puts what else stands in a row around its cells.
func around(row []Cell, i int) []Cell {
	all := []Cell{{"nome", firstNames[i%len(firstNames)] + " " + lastNames[i%len(lastNames)]}}
	return append(append(all, row...), Cell{"cidade", "Campinas"})
}

func separatedRows(rows [][]Cell, sep rune, quotes bool) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Comma = sep
	write := func(texts []string) {
		if quotes {
			for i := range texts {
				texts[i] = `"` + strings.ReplaceAll(texts[i], `"`, `""`) + `"`
			}
			w.Flush()
			b.WriteString(strings.Join(texts, string(sep)) + "\n")
			return
		}
		_ = w.Write(texts)
	}
	for i, row := range rows {
		var names, texts []string
		for _, c := range around(row, i) {
			names, texts = append(names, c.Name), append(texts, c.Text)
		}
		if i == 0 {
			write(names)
		}
		write(texts)
	}
	w.Flush()
	return b.Bytes()
}

func oneColumn(rows [][]Cell) []byte {
	var b strings.Builder
	for i, row := range rows {
		var names, texts []string
		for _, c := range row {
			names, texts = append(names, c.Name), append(texts, c.Text)
		}
		if i == 0 {
			b.WriteString(strings.Join(names, ";") + "\n")
		}
		b.WriteString(strings.Join(texts, ";") + "\n")
	}
	return []byte(b.String())
}

func objects(rows [][]Cell, list bool) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if list {
		e.SetIndent("", "  ")
		b.WriteString("[\n")
	}
	for i, row := range rows {
		members := &bytes.Buffer{}
		members.WriteString("{")
		for k, c := range around(row, i) {
			if k > 0 {
				members.WriteString(",")
			}
			text := &bytes.Buffer{}
			t := json.NewEncoder(text)
			t.SetEscapeHTML(false)
			_ = t.Encode(c.Text)
			// What looks like an escape is one here.
			value := strings.ReplaceAll(strings.TrimSpace(text.String()), `\\u0040`, `\u0040`)
			members.WriteString(`"` + c.Name + `":` + value)
		}
		members.WriteString("}")
		if list && i > 0 {
			b.WriteString(",\n")
		}
		_ = e.Encode(json.RawMessage(members.Bytes()))
	}
	if list {
		b.WriteString("]\n")
	}
	return b.Bytes()
}

func statements(rows [][]Cell, defined bool) []byte {
	var b strings.Builder
	for i, row := range rows {
		var names, texts []string
		for _, c := range around(row, i) {
			names, texts = append(names, "`"+c.Name+"`"), append(texts, "'"+strings.ReplaceAll(c.Text, "'", "''")+"'")
		}
		if !defined {
			fmt.Fprintf(&b, "INSERT INTO clientes (%s) VALUES (%s);\n", strings.Join(names, ", "), strings.Join(texts, ", "))
			continue
		}
		if i == 0 {
			fmt.Fprintf(&b, "-- MySQL dump 10.13\nCREATE TABLE `clientes` (\n  %s varchar(90)\n);\nINSERT INTO `clientes` VALUES ", strings.Join(names, " varchar(90),\n  "))
		} else {
			b.WriteString(",")
		}
		b.WriteString("(" + strings.Join(texts, ",") + ")")
	}
	return []byte(b.String() + ";\n")
}

func copyRows(rows [][]Cell) []byte {
	var b strings.Builder
	for i, row := range rows {
		var names, texts []string
		for _, c := range around(row, i) {
			names, texts = append(names, c.Name), append(texts, strings.ReplaceAll(c.Text, `\`, `\\`))
		}
		if i == 0 {
			b.WriteString("COPY public.clientes (" + strings.Join(names, ", ") + ") FROM stdin;\n")
		}
		b.WriteString(strings.Join(texts, "\t") + "\n")
	}
	return []byte(b.String() + "\\.\n")
}

func labelledRows(rows [][]Cell) []byte {
	var b strings.Builder
	for i, row := range rows {
		for _, c := range around(row, i) {
			b.WriteString(c.Name + ": " + c.Text + "\n")
		}
		b.WriteString("\n")
	}
	return []byte(b.String())
}

func keyValues(rows [][]Cell) []byte {
	var b strings.Builder
	for i, row := range rows {
		fmt.Fprintf(&b, "2026-11-%02d 10:00:00 INFO", i%28+1)
		for _, c := range row {
			b.WriteString(" " + c.Name + "=" + c.Text)
		}
		b.WriteString("\n")
	}
	return []byte(b.String())
}

func xmlRows(rows [][]Cell) []byte {
	var b strings.Builder
	for i, row := range rows {
		b.WriteString("<cliente>\n")
		for _, c := range around(row, i) {
			fmt.Fprintf(&b, "  <%s>%s</%s>\n", c.Name, c.Text, c.Name)
		}
		b.WriteString("</cliente>\n")
	}
	return []byte(b.String())
}

func lines(rows [][]Cell) []byte {
	var b strings.Builder
	for _, row := range rows {
		b.WriteString(row[len(row)-1].Text + "\n")
	}
	return []byte(b.String())
}

func sentences(rows [][]Cell) []byte {
	var b strings.Builder
	for i, row := range rows {
		fmt.Fprintf(&b, "%s informou %s ontem, e espera a resposta.\n", firstNames[i%len(firstNames)], row[len(row)-1].Text)
	}
	return []byte(b.String())
}

func htmlRows(rows [][]Cell) []byte {
	var b strings.Builder
	b.WriteString("<table>\n")
	for i, row := range rows {
		fmt.Fprintf(&b, "<tr><td>%s</td><td>%s</td></tr>\n", firstNames[i%len(firstNames)], row[len(row)-1].Text)
	}
	return []byte(b.String() + "</table>\n")
}

// Spelled is a text of one spelling in one carrier.
type Spelled struct {
	Spelling *Spelling
	Carrier  *Carrier
	Text     []byte
	Want     []Value
}

// AllSpelled writes n values of each spelling into each carrier that suits it.
func AllSpelled(n int) (all []Spelled) {
	for i := range Spellings {
		all = append(all, Spell(&Spellings[i], Carriers, n)...)
	}
	return all
}

// Spell writes n values of a spelling into each of the carriers that suits it.
func Spell(s *Spelling, carriers []Carrier, n int) (all []Spelled) {
	for k := range carriers {
		c := &carriers[k]
		if s.Named && !c.Named {
			continue
		}
		r := rand.New(rand.NewPCG(uint64(len(s.Name)), uint64(k)))
		var rows [][]Cell
		var want []Value
		for range n {
			cells, normal := s.Write(r)
			rows, want = append(rows, cells), append(want, Value{s.Kind, normal})
		}
		all = append(all, Spelled{s, c, c.Write(rows), want})
	}
	return all
}
