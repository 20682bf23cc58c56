package scan

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode/utf8"

	"github.com/vigiahq/vigia/internal/identifier"
)

// fixedTextOf is a text of records of fixed width with the values that stand in it.
type fixedTextOf struct {
	Name string
	Text []byte
	Want []Value
	// Lost says why some are known not to be found.
	Lost string
}

// fixedPart writes one column of a record of fixed width, always as many characters.
type fixedPart func(r *rand.Rand, row int) (text string, value Value)

func of(text string) (string, Value) { return text, Value{} }

// fixedParts are the columns that records of fixed width are put together from.
var fixedParts = map[string]fixedPart{
	"cpf": func(r *rand.Rand, _ int) (string, Value) {
		n := cpfWithZeros(r, 0)
		return n, Value{Kind: identifier.CPF, Normal: n}
	},
	"cpf, zeros": func(r *rand.Rand, _ int) (string, Value) {
		n := cpfWithZeros(r, r.IntN(3))
		return "000" + n, Value{Kind: identifier.CPF, Normal: n}
	},
	"cpf, blanks": func(r *rand.Rand, _ int) (string, Value) {
		n := cpfWithZeros(r, r.IntN(3))
		return fmt.Sprintf("%11s", strings.TrimLeft(n, "0")), Value{Kind: identifier.CPF, Normal: n}
	},
	"cpf, dots": func(r *rand.Rand, _ int) (string, Value) {
		n := cpfWithZeros(r, 0)
		return n[:3] + "." + n[3:6] + "." + n[6:9] + "-" + n[9:], Value{Kind: identifier.CPF, Normal: n}
	},
	"mobile": func(r *rand.Rand, _ int) (string, Value) {
		area, first, last := mobile(r)
		return area + first + last, Value{Kind: identifier.Phone, Normal: "+55" + area + first + last}
	},
	"mobile, 55": func(r *rand.Rand, _ int) (string, Value) {
		area, first, last := mobile(r)
		return "55" + area + first + last, Value{Kind: identifier.Phone, Normal: "+55" + area + first + last}
	},
	"landline": func(r *rand.Rand, _ int) (string, Value) {
		area, first, last := landline(r)
		return area + first + last, Value{Kind: identifier.Phone, Normal: "+55" + area + first + last}
	},
	"card": func(r *rand.Rand, _ int) (string, Value) {
		n := makeCard(r)
		return n, Value{Kind: identifier.Card, Normal: n}
	},
	"email": func(r *rand.Rand, _ int) (string, Value) {
		a := address(r)
		return fmt.Sprintf("%-48s", a), Value{Kind: identifier.Email, Normal: a}
	},
	"id":         func(_ *rand.Rand, row int) (string, Value) { return of(fmt.Sprintf("%08d", 31_400_123+row)) },
	"random id":  func(r *rand.Rand, _ int) (string, Value) { return of(randomDigits(r, 9)) },
	"date":       func(r *rand.Rand, _ int) (string, Value) { return of(fixedDate(r, false)) },
	"date, year": func(r *rand.Rand, _ int) (string, Value) { return of(fixedDate(r, true)) },
	"cep":        func(r *rand.Rand, _ int) (string, Value) { return of(randomDigits(r, 8)) },
	"uf": func(r *rand.Rand, _ int) (string, Value) {
		return of([]string{"SP", "RJ", "BA", "CE", "DF", "AC"}[r.IntN(6)])
	},
	"name": func(r *rand.Rand, _ int) (string, Value) {
		return of(fixedName(r, strings.ToUpper))
	},
	"name, accents": func(r *rand.Rand, _ int) (string, Value) {
		return of(
			fixedName(r, func(s string) string { return strings.NewReplacer("a", "ã", "e", "é", "o", "ô").Replace(s) }),
		)
	},
	"type": func(_ *rand.Rand, row int) (string, Value) { return of(string("12"[row%2])) },
}

func fixedDate(r *rand.Rand, year bool) string {
	y, m, d := 1940+r.IntN(65), 1+r.IntN(12), 1+r.IntN(28)
	if year {
		return fmt.Sprintf("%04d%02d%02d", y, m, d)
	}
	return fmt.Sprintf("%02d%02d%04d", d, m, y)
}

func fixedName(r *rand.Rand, write func(string) string) string {
	text := write(FirstNames[r.IntN(len(FirstNames))] + " " + LastNames[r.IntN(len(LastNames))])
	return text + strings.Repeat(" ", max(0, 30-utf8.RuneCountInString(text)))
}

// fixedLayouts are records of fixed width, their columns one after another.
var fixedLayouts = []string{
	"cpf|date, year",
	"cpf|date",
	"date|cpf",
	"id|cpf",
	"cpf|id",
	"random id|cpf",
	"cpf|cpf",
	"cpf|mobile",
	"mobile|cpf",
	"id|cpf|date, year|mobile|uf",
	"cpf|date|uf",
	"name|cpf|date, year|mobile",
	"cpf|name|date|landline",
	"name, accents|cpf|date|mobile|uf",
	"id|name|cpf|uf|cep|mobile",
	"uf|cpf|mobile, 55|date, year",
	"random id|cpf, zeros|date",
	"date|cpf, blanks|uf",
	"id|cpf, dots|date, year|mobile",
	"date, year|mobile|cpf",
	"cpf|cep|date|landline|uf",
	"cpf|mobile|id|uf",
	"card|cpf|date",
	"id|card|date, year|uf",
	"cpf|email|date",
	"date, year|cpf|email",
	"name|mobile|uf",
	"uf|landline|uf",
	"cpf|date, year|date|mobile",
}

// fixedTexts are texts of n records of fixed width in each layout, and one with records of two kinds in turn.
func fixedTexts(n int) (texts []fixedTextOf) {
	for i, layout := range fixedLayouts {
		texts = append(texts, fixedText(layout, uint64(i), n, func(int) string { return layout }))
	}
	texts = append(texts, fixedText("two kinds in turn", 99, n, func(row int) string {
		return []string{"type|id|cpf|date|uf", "type|uf|random id|random id|cep|uf|uf"}[row%2]
	}))
	glued := fixedText("id|email|uf", 98, n, func(int) string { return "id|email|uf" })
	glued.Lost = "an address may begin with digits"
	return append(texts, glued)
}

func fixedText(name string, seed uint64, n int, layout func(row int) string) fixedTextOf {
	r := rand.New(rand.NewPCG(seed, 18))
	t := fixedTextOf{Name: strings.ReplaceAll(name, "|", " + ")}
	var lines []string
	width := 0
	for row := range n {
		line := ""
		for _, part := range strings.Split(layout(row), "|") {
			text, value := fixedParts[part](r, row)
			line += text
			if value.Normal != "" {
				t.Want = append(t.Want, value)
			}
		}
		lines, width = append(lines, line), max(width, utf8.RuneCountInString(line))
	}
	for _, line := range lines {
		t.Text = append(t.Text, line+strings.Repeat(" ", width-utf8.RuneCountInString(line))+"\n"...)
	}
	return t
}
