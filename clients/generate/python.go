package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
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

// pythonSignature returns what a method takes and gives.
func pythonSignature(m method) string {
	all := []string{"self"}
	must, may := m.splitArguments()
	for _, a := range must {
		all = append(all, toSnakeCase(a.name)+": "+pythonType(a.shape))
	}
	switch {
	case m.mayBeEmpty:
		all = append(all, "body: Optional["+pythonType(*m.body)+"] = None")
	case m.body != nil:
		all = append(all, "body: "+pythonType(*m.body))
	}
	all = append(all, "*")
	for _, a := range may {
		all = append(all, toSnakeCase(a.name)+": Optional["+pythonType(a.shape)+"] = None")
	}
	if m.keyed {
		all = append(all, "idempotency_key: Optional[str] = None")
	}
	all = append(all, "request_id: Optional[str] = None", "reply: Optional[Reply] = None")
	answer := "None"
	if m.answer != nil {
		answer = pythonType(*m.answer)
	}
	arguments := strings.Join(all, ",\n        ")
	return "    def " + toSnakeCase(m.ID) + "(\n        " + arguments + ",\n    ) -> " + answer + ":\n"
}

// pythonCall returns what a method does.
func pythonCall(m method) string {
	path, values := m.path, map[string][]string{}
	for _, a := range m.arguments {
		if a.in == "path" {
			path = strings.ReplaceAll(path, "{"+a.name+"}", "{part("+toSnakeCase(a.name)+")}")
			continue
		}
		values[a.in] = append(values[a.in], fmt.Sprintf("%q: %s", a.name, toSnakeCase(a.name)))
	}
	address := fmt.Sprintf("%q", path)
	if path != m.path {
		address = "f" + address
	}
	given := []string{fmt.Sprintf("%q", m.http), address}
	for _, in := range []struct{ place, name string }{{"query", "query"}, {"header", "headers"}} {
		if list := values[in.place]; len(list) > 0 {
			given = append(given, in.name+"={"+strings.Join(list, ", ")+"}")
		}
	}
	switch {
	case m.mayBeEmpty:
		given = append(given, "body=body or {}")
	case m.body != nil:
		given = append(given, "body=body")
	}
	if m.keyed {
		given = append(given, "idempotency_key=key_or_random(idempotency_key)")
	}
	given = append(given, "request_id=request_id", "reply=reply")
	begin := "        return self._call("
	if m.answer == nil {
		begin = "        self._call("
	}
	return begin + "\n            " + strings.Join(given, ",\n            ") + ",\n        )\n"
}

// pythonOperations returns the file of methods.
func pythonOperations(methods []method, definitions []definition) string {
	var b strings.Builder
	for _, m := range methods {
		b.WriteString("\n" + pythonSignature(m) + docstring(m.describeCall(), "        ") + pythonCall(m))
	}
	body := b.String()
	return pythonHeader + `"""The operations of the contract, one method each."""

from __future__ import annotations

from typing import List, Literal, Optional

from .schemas import (
    ` + strings.Join(namesMentioned(body, definitions), ",\n    ") + `,
)
from .send import Reply, Sender, key_or_random, part


class Operations(Sender):
    """Every operation of the partner API, named after its operationId."""
` + body
}

// namesMentioned returns the types that signatures name, in order.
func namesMentioned(body string, definitions []definition) (names []string) {
	for _, d := range definitions {
		if mentions(body, d.name) {
			names = append(names, d.name)
		}
	}
	slices.Sort(names)
	return names
}

// mentions reports whether a type is named in the signatures. Others are only parts of one.
func mentions(text, name string) bool {
	for _, before := range []string{": ", "[", "-> ", "<", "("} {
		for _, after := range []string{",", "]", ":", "\n", ">", "[", " ", ")"} {
			if strings.Contains(text, before+name+after) {
				return true
			}
		}
	}
	return false
}
