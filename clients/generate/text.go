package main

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const madeFrom = "Code generated from internal/api/openapi.yaml by go generate ./clients/generate. DO NOT EDIT.\n"

// The first line of every file that is made.
const (
	goHeader     = "// " + madeFrom + "\n"
	scriptHeader = "// " + madeFrom
	pythonHeader = "# " + madeFrom
)

// widest is the longest line that is written.
const widest = 120

// keywords are words of the language that the document uses as names; self is taken by every method.
var keywords = map[string]bool{"from": true, "self": true, "class": true, "import": true, "is": true, "in": true, "not": true, "pass": true}

// snake is a name as Python spells it.
func snake(name string) string {
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

// capital makes the name of a member a part of a class's name: not_created_items is NotCreatedItems.
func capital(name string) string {
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

// lines breaks a text into lines, paragraph by paragraph.
func lines(text, indent string) []string {
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

// comment is a text above what it is about, in the form that tools for documentation read.
func comment(text, indent string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	var b strings.Builder
	for _, line := range lines(strings.ReplaceAll(text, "\n\n", "\n"), indent+"#: ") {
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
	list := lines(open+text, indent)
	if len(list) == 1 && utf8.RuneCountInString(list[0])+3 <= widest {
		return list[0] + `"""` + "\n"
	}
	return strings.Join(list, "\n") + "\n" + indent + `"""` + "\n"
}

// fill writes a type after its name, inside its outermost brackets on lines of their own where one line is too short.
func fill(name, text, indent string) string {
	open := strings.IndexByte(text, '[')
	if utf8.RuneCountInString(name+text) <= widest || open < 0 {
		return name + text
	}
	var b strings.Builder
	b.WriteString(name + text[:open+1])
	room := 0
	for item := range strings.SplitSeq(text[open+1:len(text)-1], ", ") { // no word of the contract holds a comma
		if room -= utf8.RuneCountInString(item) + 2; room < 0 {
			b.WriteString("\n" + indent + "   ")
			room = widest - len(indent) - 4 - utf8.RuneCountInString(item) - 2
		}
		b.WriteString(" " + item + ",")
	}
	return b.String() + "\n" + indent + "]"
}
