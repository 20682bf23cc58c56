package subject

import (
	"cmp"
	_ "embed"
	"html/template"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/operator"
)

//go:embed letter.html
var letterPage string

// letterTemplate is one page without script or anything from elsewhere: it is sent on as a file, and printed from a
// browser it becomes a PDF.
var letterTemplate = template.Must(template.New("letter").Funcs(template.FuncMap{
	"day":      letterDay,
	"moment":   letterMoment,
	"kind":     wordLookup(kindWords),
	"class":    classWords,
	"severity": wordLookup(severityWords),
	"status":   wordLookup(statusWords),
	"resolved": wordLookup(resolutionWords),
	"step":     wordLookup(stepWords),
	"cpf":      letterCPF,
	"event":    wordLookup(eventWords),
	"system":   wordLookup(systemWords),
	"watched":  letterValue,
	"tenths":   func(f float64) string { return strings.Replace(strconv.FormatFloat(f, 'f', 1, 64), ".", ",", 1) },
}).Parse(letterPage))

// wordLookup says a name of ours in words; one that has none stays as it is.
func wordLookup(words map[string]string) func(string) string {
	return func(name string) string { return cmp.Or(words[name], name) }
}

// classWords returns the names of classes of data in Portuguese, as a list in a sentence.
func classWords(names []string) string {
	words := make([]string, len(names))
	for i, name := range names {
		words[i] = cmp.Or(exposedWords[name], name)
	}
	return strings.Join(words, ", ")
}

// letterDay and letterMoment write what the statement has as dates and times of machines.
func letterDay(text string) string {
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return t.Format("02/01/2006")
	}
	return text
}

// letterMoment returns a time in Brasília as Brazilians write it; a text that is no time stays as it is.
func letterMoment(text string) string {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return t.UTC().Add(operator.Brasilia).Format("02/01/2006 15:04")
}

// letterCPF returns a CPF with its dots and dash; a text that is no CPF stays as it is.
func letterCPF(text string) string {
	digits, err := identifier.ParseCPF(text, identifier.Waived)
	if err != nil {
		return text
	}
	return identifier.FormatCPF(digits)
}

// letterValue writes a watched value as people do.
func letterValue(kind, value string) string {
	if kind == identifier.CPF.String() {
		return letterCPF(value)
	}
	return value
}

// letter is what the page is made of.
type letter struct {
	Name string
	Date string
	Held []heldView
}

// WriteLetter writes the statement as a letter to the person: a page of HTML to be read, printed or kept as PDF.
func WriteLetter(w io.Writer, all []Held, now time.Time) error {
	l := letter{Date: now.UTC().Add(operator.Brasilia).Format("02/01/2006"), Held: statementOf(all)}
	for _, v := range l.Held {
		for _, s := range v.Subscriptions {
			if s.Name != "" {
				l.Name = s.Name
			}
		}
	}
	return letterTemplate.Execute(w, l)
}
