package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/api/reference"
)

// argument is what a method is called with.
type argument struct{ name, kind, wire, in string }

// method is an operation on its way to Python.
type method struct {
	operation
	http, path string
	arguments  []argument
	body       string // the type of the body, "" where there is none
	mayBeEmpty bool   // a body whose members may all be missing
	answer     string
	keyed      bool
}

// left are headers that the client sends by itself.
var left = map[string]bool{"idempotency-key": true, "x-idempotency-key": true, "x-request-id": true}

// method returns an operation as a method of the client: required arguments first, then the optional ones.
func (t *types) method(verb, path string, op operation) method {
	m := method{operation: op, http: strings.ToUpper(verb), path: path}
	m.keyed = reference.Operation{ID: op.ID, Method: m.http}.Keyed()
	for _, raw := range op.Parameters {
		p, err := t.document.parameter(raw)
		if err != nil {
			t.errs = append(t.errs, err)
			continue
		}
		name := snake(p.Name)
		// The same value may go as a header or in the query: the header comes first, as addresses end up in logs.
		twice := slices.ContainsFunc(m.arguments, func(a argument) bool { return a.name == name })
		if left[strings.ToLower(p.Name)] || twice {
			continue
		}
		kind := t.of(p.Schema, capital(op.ID)+capital(p.Name))
		if !p.Required {
			kind = "Optional[" + kind + "] = None"
		}
		m.arguments = append(m.arguments, argument{name, kind, p.Name, p.In})
	}
	slices.SortStableFunc(m.arguments, func(a, b argument) int { // what must be given comes first
		return strings.Count(a.kind, "= None") - strings.Count(b.kind, "= None")
	})
	if s := op.RequestBody.Content.JSON.Schema; s != nil {
		m.body = t.of(s, capital(op.ID)+"Body")
		target := t.document.Components.Schemas[referred(s.Ref)]
		m.mayBeEmpty = target != nil && len(target.Required) == 0
	}
	m.answer = t.of(op.Responses["200"].Content.JSON.Schema, capital(op.ID)+"Answer")
	if m.answer == "Any" {
		t.errs = append(t.errs, fmt.Errorf("%s: no answer of status 200", op.ID))
	}
	return m
}

// signature is what a method takes and gives.
func (m method) signature() string {
	var must, may []string
	for _, a := range m.arguments {
		if strings.HasSuffix(a.kind, "= None") {
			may = append(may, a.name+": "+a.kind)
		} else {
			must = append(must, a.name+": "+a.kind)
		}
	}
	switch {
	case m.mayBeEmpty:
		must = append(must, "body: Optional["+m.body+"] = None")
	case m.body != "":
		must = append(must, "body: "+m.body)
	}
	if m.keyed {
		may = append(may, "idempotency_key: Optional[str] = None")
	}
	may = append(may, "request_id: Optional[str] = None", "reply: Optional[Reply] = None")
	all := append(append([]string{"self"}, must...), append([]string{"*"}, may...)...)
	return "    def " + snake(m.ID) + "(\n        " + strings.Join(all, ",\n        ") + ",\n    ) -> " + m.answer + ":\n"
}

// call is what a method does.
func (m method) call() string {
	path, values := m.path, map[string][]string{}
	for _, a := range m.arguments {
		switch a.in {
		case "path":
			path = strings.ReplaceAll(path, "{"+a.wire+"}", "{part("+a.name+")}")
		default:
			values[a.in] = append(values[a.in], fmt.Sprintf("%q: %s", a.wire, a.name))
		}
	}
	text := fmt.Sprintf("%q", path)
	if path != m.path {
		text = "f" + text
	}
	given := []string{fmt.Sprintf("%q", m.http), text}
	for _, in := range []struct{ place, name string }{{"query", "query"}, {"header", "headers"}} {
		if list := values[in.place]; len(list) > 0 {
			given = append(given, in.name+"={"+strings.Join(list, ", ")+"}")
		}
	}
	switch {
	case m.mayBeEmpty:
		given = append(given, "body=body or {}")
	case m.body != "":
		given = append(given, "body=body")
	}
	if m.keyed {
		given = append(given, "idempotency_key=key_or_random(idempotency_key)")
	}
	given = append(given, "request_id=request_id", "reply=reply")
	return "        return self._call(\n            " + strings.Join(given, ",\n            ") + ",\n        )\n"
}

// operations is the whole file of methods.
func operations(t *types) string {
	clear(t.used)
	var methods strings.Builder
	for _, path := range t.document.Paths {
		for _, op := range path.Value {
			m := t.method(op.Name, path.Name, op.Value)
			about := docstring(strings.TrimSuffix(m.Summary, ".")+".\n\n"+m.Description, "        ")
			methods.WriteString("\n" + m.signature() + about + m.call())
		}
	}
	body := methods.String()
	imported := slices.DeleteFunc(slices.Sorted(maps.Keys(t.used)), func(name string) bool { return !mentions(body, name) })
	return header + `"""The operations of the contract, one method each."""

from __future__ import annotations

from typing import List, Literal, Optional

from .schemas import (
    ` + strings.Join(imported, ",\n    ") + `,
)
from .send import Reply, Sender, key_or_random, part


class Operations(Sender):
    """Every operation of the partner API, named after its operationId."""
` + body
}

// mentions tells whether a type is named in the signatures. Others were only asked for on the way to one.
func mentions(text, name string) bool {
	for _, before := range []string{": ", "[", "-> "} {
		for _, after := range []string{",", "]", ":", "\n"} {
			if strings.Contains(text, before+name+after) {
				return true
			}
		}
	}
	return false
}
