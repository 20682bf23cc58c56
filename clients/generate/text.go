package main

import (
	"strings"
	"unicode/utf8"
)

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
