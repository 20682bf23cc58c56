package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pythonType returns a shape as Python spells it.
func pythonType(s shape) string {
	text := map[kind]string{
		anything: "Any",
		textual:  "str",
		moment:   "str",
		boolean:  "bool",
		integer:  "int",
		number:   "float",
		mapping:  "Dict[str, Any]",
		named:    s.name,
	}[s.kind]
	switch s.kind {
	case words:
		text = "Literal[" + strings.Join(spellEach(s.words, strconv.Quote), ", ") + "]"
	case list:
		text = "List[" + pythonType(s.parts[0]) + "]"
	case union:
		parts := spellEach(s.parts, pythonType)
		slices.Sort(parts)
		text = "Union[" + strings.Join(parts, ", ") + "]"
	case anything, textual, moment, boolean, integer, number, mapping, named:
	}
	if s.nullable && s.kind != anything {
		return "Optional[" + text + "]"
	}
	return text
}

// spellEach returns each of a list as a language spells it.
func spellEach[T any](all []T, spell func(T) string) []string {
	list := make([]string, len(all))
	for i, one := range all {
		list[i] = spell(one)
	}
	return list
}

// pythonSchemas returns the file of types: closed lists, then objects, then what is made of them.
func pythonSchemas(definitions []definition) string {
	var literals, classes, unions strings.Builder
	for _, d := range definitions {
		switch d.shape.kind {
		case words:
			literals.WriteString(
				"\n" + formatComment(d.about, "") + writeTypeLines(d.name+" = ", pythonType(d.shape), "") + "\n",
			)
		case union:
			unions.WriteString("\n" + writeTypeLines(d.name+" = ", pythonType(d.shape), "") + "\n")
		default:
			classes.WriteString(pythonClass(d))
		}
	}
	return pythonHeader +
		`"""The shapes of the contract's requests and answers: what JSON they are, member by member."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union
` + literals.String() + classes.String() + "\n" + unions.String()
}

// pythonCodes returns the file of the codes of errors.
func pythonCodes(d definition) string {
	var b strings.Builder
	b.WriteString(pythonHeader + docstring(d.about, "") + "\nfrom typing import Final\n\n")
	for _, w := range d.shape.words {
		fmt.Fprintf(&b, "%s: Final = %q\n", strings.ToUpper(strings.ReplaceAll(w, ".", "_")), w)
	}
	return b.String()
}

// pythonClass writes an object. What may be missing stands in a class of its own: Python 3.9 knows no other way to say
// it.
func pythonClass(d definition) string {
	var must, may []member
	for _, m := range d.members {
		if m.required {
			must = append(must, m)
		} else {
			may = append(may, m)
		}
	}
	switch {
	case len(may) == 0:
		return pythonMembers(d.name, "TypedDict", d.about, must)
	case len(must) == 0:
		return pythonMembers(d.name, "TypedDict, total=False", d.about, may)
	}
	required := pythonMembers("_"+d.name, "TypedDict", "", must)
	return required + pythonMembers(d.name, "_"+d.name+", total=False", d.about, may)
}

// pythonMembers writes a class with these members. One of them may be called as a word of the language, and then it
// takes a form in which any name may be a member.
func pythonMembers(class, bases, about string, list []member) string {
	var b strings.Builder
	if slices.ContainsFunc(list, func(m member) bool { return keywords[m.name] }) {
		fmt.Fprintf(&b, "\n\n%s%s = TypedDict(\n    %q,\n    {\n", formatComment(about, ""), class, class)
		for _, m := range list {
			b.WriteString(formatComment(m.about, "        "))
			fmt.Fprintf(&b, "        %q: %s,\n", m.name, pythonText(pythonType(m.shape)))
		}
		b.WriteString("    },\n")
		if strings.HasSuffix(bases, "total=False") {
			b.WriteString("    total=False,\n")
		}
		b.WriteString(")\n")
		return b.String()
	}
	fmt.Fprintf(&b, "\n\nclass %s(%s):\n", class, bases)
	if about != "" {
		b.WriteString(docstring(about, "    ") + "\n")
	}
	for _, m := range list {
		b.WriteString(formatComment(m.about, "    "))
		b.WriteString(writeTypeLines("    "+m.name+": ", pythonType(m.shape), "    ") + "\n")
	}
	return b.String()
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
