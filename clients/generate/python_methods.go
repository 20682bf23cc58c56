package main

import (
	"fmt"
	"slices"
	"strings"
)

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
