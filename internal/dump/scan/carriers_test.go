package scan

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// carrier writes rows of cells into a text.
type carrier struct {
	Name string
	// Named textCarriers have names for their values.
	Named bool
	Write func(rows [][]cellText) []byte
}

// textCarriers are the texts that spellings are put into.
var textCarriers = []carrier{
	{"comma", true, func(rows [][]cellText) []byte { return separatedRows(rows, ',', false) }},
	{"semicolon", true, func(rows [][]cellText) []byte { return separatedRows(rows, ';', false) }},
	{"tab", true, func(rows [][]cellText) []byte { return separatedRows(rows, '\t', false) }},
	{"all in quotes", true, func(rows [][]cellText) []byte { return separatedRows(rows, ',', true) }},
	{"one column", true, oneColumn},
	{"JSON lines", true, func(rows [][]cellText) []byte { return objects(rows, false) }},
	{"JSON list", true, func(rows [][]cellText) []byte { return objects(rows, true) }},
	{"INSERT", true, func(rows [][]cellText) []byte { return statements(rows, false) }},
	{"mysqldump", true, func(rows [][]cellText) []byte { return statements(rows, true) }},
	{"COPY", true, copyRows},
	{"labels", true, labelledRows},
	{"key=value", true, keyValues},
	{"XML", true, xmlRows},
	{"lines", false, lines},
	{"sentences", false, sentences},
	{"HTML table", false, htmlRows},
	{"no header", false, func(rows [][]cellText) []byte {
		return separatedRows(rows, ';', false)[len("nome;;cidade\n")+namesLen(rows):]
	}},
}

func namesLen(rows [][]cellText) (n int) {
	for i, c := range rows[0] {
		if n += len(c.Name); i > 0 {
			n++
		}
	}
	return n
}

// aroundCells puts what else stands in a row around its cells.
func aroundCells(row []cellText, i int) []cellText {
	all := []cellText{{"nome", FirstNames[i%len(FirstNames)] + " " + LastNames[i%len(LastNames)]}}
	return append(append(all, row...), cellText{"cidade", "Campinas"})
}

func separatedRows(rows [][]cellText, sep rune, quotes bool) []byte {
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
		for _, c := range aroundCells(row, i) {
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

func oneColumn(rows [][]cellText) []byte {
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

func objects(rows [][]cellText, list bool) []byte {
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
		for k, c := range aroundCells(row, i) {
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

func statements(rows [][]cellText, defined bool) []byte {
	var b strings.Builder
	for i, row := range rows {
		var names, texts []string
		for _, c := range aroundCells(row, i) {
			names, texts = append(names, "`"+c.Name+"`"), append(texts, "'"+strings.ReplaceAll(c.Text, "'", "''")+"'")
		}
		if !defined {
			fmt.Fprintf(
				&b,
				"INSERT INTO clientes (%s) VALUES (%s);\n",
				strings.Join(names, ", "),
				strings.Join(texts, ", "),
			)
			continue
		}
		if i == 0 {
			fmt.Fprintf(
				&b,
				"-- MySQL dump 10.13\nCREATE TABLE `clientes` (\n  %s varchar(90)\n);\nINSERT INTO `clientes` VALUES ",
				strings.Join(names, " varchar(90),\n  "),
			)
		} else {
			b.WriteString(",")
		}
		b.WriteString("(" + strings.Join(texts, ",") + ")")
	}
	return []byte(b.String() + ";\n")
}

func copyRows(rows [][]cellText) []byte {
	var b strings.Builder
	for i, row := range rows {
		var names, texts []string
		for _, c := range aroundCells(row, i) {
			names, texts = append(names, c.Name), append(texts, strings.ReplaceAll(c.Text, `\`, `\\`))
		}
		if i == 0 {
			b.WriteString("COPY public.clientes (" + strings.Join(names, ", ") + ") FROM stdin;\n")
		}
		b.WriteString(strings.Join(texts, "\t") + "\n")
	}
	return []byte(b.String() + "\\.\n")
}

func labelledRows(rows [][]cellText) []byte {
	var b strings.Builder
	for i, row := range rows {
		for _, c := range aroundCells(row, i) {
			b.WriteString(c.Name + ": " + c.Text + "\n")
		}
		b.WriteString("\n")
	}
	return []byte(b.String())
}

func keyValues(rows [][]cellText) []byte {
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

func xmlRows(rows [][]cellText) []byte {
	var b strings.Builder
	for i, row := range rows {
		b.WriteString("<cliente>\n")
		for _, c := range aroundCells(row, i) {
			fmt.Fprintf(&b, "  <%s>%s</%s>\n", c.Name, c.Text, c.Name)
		}
		b.WriteString("</cliente>\n")
	}
	return []byte(b.String())
}

func lines(rows [][]cellText) []byte {
	var b strings.Builder
	for _, row := range rows {
		b.WriteString(row[len(row)-1].Text + "\n")
	}
	return []byte(b.String())
}

func sentences(rows [][]cellText) []byte {
	var b strings.Builder
	for i, row := range rows {
		fmt.Fprintf(
			&b,
			"%s informou %s ontem, e espera a resposta.\n",
			FirstNames[i%len(FirstNames)],
			row[len(row)-1].Text,
		)
	}
	return []byte(b.String())
}

func htmlRows(rows [][]cellText) []byte {
	var b strings.Builder
	b.WriteString("<table>\n")
	for i, row := range rows {
		fmt.Fprintf(&b, "<tr><td>%s</td><td>%s</td></tr>\n", FirstNames[i%len(FirstNames)], row[len(row)-1].Text)
	}
	return []byte(b.String() + "</table>\n")
}

// spelled is a text of one spelling in one carrier.
type spelled struct {
	spelling *spelling
	carrier  *carrier
	Text     []byte
	Want     []Value
}

// allSpelled writes n values of each spelling into each carrier that suits it.
func allSpelled(n int) (all []spelled) {
	for i := range spellings {
		all = append(all, spell(&spellings[i], textCarriers, n)...)
	}
	return all
}

// spell writes n values of a spelling into each of the textCarriers that suits it.
func spell(s *spelling, carriers []carrier, n int) (all []spelled) {
	for k := range carriers {
		c := &carriers[k]
		if s.Named && !c.Named {
			continue
		}
		r := rand.New(rand.NewPCG(uint64(len(s.Name)), uint64(k)))
		var rows [][]cellText
		var want []Value
		for range n {
			cells, normal := s.Write(r)
			rows, want = append(rows, cells), append(want, Value{Kind: s.Kind, Normal: normal})
		}
		all = append(all, spelled{s, c, c.Write(rows), want})
	}
	return all
}
