package console

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	blockWord = regexp.MustCompile(`\{\{-? ?(range|if|with|define|block|end)\b`)
	control   = regexp.MustCompile(`(?s)<(summary|button|a) ([^>]*)>(.*?)</(?:summary|button|a)>`)
	iconCall  = regexp.MustCompile(`\{\{icon [^}]*\}\}`)
	asking    = regexp.MustCompile(`\{\{template "(?:reveal|confirm)" \(dict [^\n]*?\)\}\}`)
	// manyOf is a number with a word in the plural behind it, which nobody asked to agree.
	manyOf = regexp.MustCompile(`\{\{(?:number |len )?[$.][\w.$ ]*\}\} (?:[a-zçãõáéíóúâêô]+(?:as|es|os|ões|ais)|mais)\b|"[^"]*%d [a-zçãõáéíóúâêô]+s\b`)
)

// repeated tells whether what stands behind a part of a template is there once for every row.
func repeated(before string) bool {
	var open []string
	for _, m := range blockWord.FindAllStringSubmatch(before, -1) {
		if m[1] != "end" {
			open = append(open, m[1])
		} else if len(open) > 0 {
			open = open[:len(open)-1]
		}
	}
	return slices.Contains(open, "range")
}

func eachTemplate(t *testing.T, look func(name, text string)) {
	t.Helper()
	names, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil || len(names) < 50 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(templateFiles, name)
		if err != nil {
			t.Fatal(err)
		}
		look(name, string(text))
	}
}

// TestRepeatedControlsHaveNames: a button or link that stands in every row says, to a screen reader too, which row is meant.
func TestRepeatedControlsHaveNames(t *testing.T) {
	seen := 0
	eachTemplate(t, func(name, text string) {
		for _, m := range control.FindAllStringSubmatchIndex(text, -1) {
			attributes, said := text[m[4]:m[5]], iconCall.ReplaceAllString(text[m[6]:m[7]], "")
			if !repeated(text[:m[0]]) || strings.Contains(attributes, "aria-label") {
				continue
			}
			if _, href, link := strings.Cut(attributes, `href="`); link && !strings.Contains(href, "{{") {
				continue // it leads to the same place from every row
			}
			if seen++; !strings.Contains(said, "{{") {
				t.Errorf("%s: %q stands in every row and names none", name, text[m[0]:m[1]])
			}
		}
		for _, m := range asking.FindAllStringIndex(text, -1) {
			if seen++; repeated(text[:m[0]]) && !strings.Contains(text[m[0]:m[1]], `"of"`) {
				t.Errorf("%s: %q stands in every row and names none", name, text[m[0]:m[1]])
			}
		}
	})
	if seen < 30 {
		t.Error("only", seen, "controls were seen: are the patterns right?")
	}
}

// TestNumbersAgree: what stands behind a number agrees with it: 1 falha seguida, 2 falhas seguidas.
func TestNumbersAgree(t *testing.T) {
	eachTemplate(t, func(name, text string) {
		for _, found := range manyOf.FindAllString(text, -1) {
			if !slices.Contains(always, found) {
				t.Errorf("%s: %q: one of them reads wrong; use plural", name, found)
			}
		}
	})
	if formatTimeLeft(time.Hour) != "falta 1 h" || formatTimeLeft(3*time.Hour) != "faltam 3 h" {
		t.Error(formatTimeLeft(time.Hour), formatTimeLeft(3*time.Hour))
	}
	for n, want := range map[int64]string{0: "0 dias", 1: "1 dia", 2: "2 dias", 1500: "1.500 dias"} {
		if got := countWithWord(n, "dia", "dias"); got != want {
			t.Error(got)
		}
	}
}

// always are numbers that are never one.
var always = []string{"{{.Data.Min}} caracteres"}
