package main

import (
	"fmt"
	"slices"
	"strings"
)

// class writes an object. What may be missing stands in a class of its own: Python 3.9 knows no other way to say it.
func (t *types) class(s *schema, name string) {
	var must, may ordered[*schema]
	for _, m := range s.Properties {
		if slices.Contains(s.Required, m.Name) {
			must = append(must, m)
		} else {
			may = append(may, m)
		}
	}
	var text string
	switch {
	case len(may) == 0:
		text = t.members(name, "TypedDict", s.Description, name, must)
	case len(must) == 0:
		text = t.members(name, "TypedDict, total=False", s.Description, name, may)
	default:
		text = t.members("_"+name, "TypedDict", "", name, must) +
			t.members(name, "_"+name+", total=False", s.Description, name, may)
	}
	t.classes.WriteString(text) // after the classes of its members
}

// members writes a class with these members. One of them may be called as a word of the language, and then it takes
// another form.
func (t *types) members(class, bases, about, owner string, list ordered[*schema]) string {
	if slices.ContainsFunc(list, func(m entry[*schema]) bool { return keywords[m.Name] }) {
		return t.mapping(class, bases, about, owner, list)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n\nclass %s(%s):\n", class, bases)
	if about != "" {
		b.WriteString(docstring(about, "    ") + "\n")
	}
	for _, m := range list {
		b.WriteString(comment(t.about(m.Value), "    "))
		b.WriteString(fill("    "+m.Name+": ", t.of(m.Value, owner+capital(m.Name)), "    ") + "\n")
	}
	return b.String()
}

// mapping is the form in which any name may be a member.
func (t *types) mapping(class, bases, about, owner string, list ordered[*schema]) string {
	if strings.HasPrefix(bases, "_") { // no class may extend it in this form
		t.errs = append(t.errs, fmt.Errorf("%s: a member that may be missing is a word of the language", class))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n\n%s%s = TypedDict(\n    %q,\n    {\n", comment(about, ""), class, class)
	for _, m := range list {
		b.WriteString(comment(t.about(m.Value), "        "))
		fmt.Fprintf(&b, "        %q: %s,\n", m.Name, pythonText(t.of(m.Value, owner+capital(m.Name))))
	}
	b.WriteString("    },\n")
	if strings.HasSuffix(bases, "total=False") {
		b.WriteString("    total=False,\n")
	}
	b.WriteString(")\n")
	return b.String()
}

// about is what the document says of a member. What it says of a component is repeated only where it is short.
func (t *types) about(s *schema) string {
	if s.Description != "" || s.Ref == "" {
		return s.Description
	}
	target := t.document.Components.Schemas[referred(s.Ref)]
	if target == nil || len(target.Description) > 80 || len(target.Properties) > 0 || len(target.Enum) > 0 {
		return ""
	}
	return target.Description
}

// file is the whole file of types.
func (t *types) file() string {
	return header + `"""The shapes of the contract's requests and answers: what JSON they are, member by member."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union
` + t.literals.String() + t.classes.String() + "\n" + t.unions.String()
}
