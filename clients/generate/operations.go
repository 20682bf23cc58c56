package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/api/reference"
)

// argument is what a method is called with.
type argument struct {
	name     string // as the document spells it
	in       string // path, query or header
	shape    shape
	required bool
}

// method is an operation before any language has spelt it. All clients take its arguments in this order: those that
// must be given, the body, and then, by name, those that may be.
type method struct {
	operation
	http, path string
	arguments  []argument
	body       *shape
	mayBeEmpty bool   // a body whose members may all be missing
	answer     *shape // nil where the answer says no more than that it is done
	keyed      bool
}

// done is the schema of an answer that says no more than that it is done.
const done = "Done"

// left are headers that the client sends by itself.
var left = map[string]bool{"idempotency-key": true, "x-idempotency-key": true, "x-request-id": true}

// method returns an operation as a method of a client.
func (t *types) method(verb, path string, op operation) method {
	m := method{operation: op, http: strings.ToUpper(verb), path: path}
	m.keyed = reference.Operation{ID: op.ID, Method: m.http}.Keyed()
	for _, raw := range op.Parameters {
		p, err := t.document.parameter(raw)
		if err != nil {
			t.errs = append(t.errs, err)
			continue
		}
		// The same value may go as a header or in the query: the header comes first, as addresses end up in logs.
		twice := slices.ContainsFunc(m.arguments, func(a argument) bool { return snake(a.name) == snake(p.Name) })
		if left[strings.ToLower(p.Name)] || twice {
			continue
		}
		m.arguments = append(m.arguments, argument{
			name: p.Name, in: p.In, shape: t.of(p.Schema, capital(op.ID)+capital(p.Name)), required: p.Required,
		})
	}
	slices.SortStableFunc(m.arguments, func(a, b argument) int { // what must be given comes first
		switch {
		case a.required == b.required:
			return 0
		case a.required:
			return -1
		}
		return 1
	})
	if s := op.RequestBody.Content.JSON.Schema; s != nil {
		body := t.of(s, capital(op.ID)+"Body")
		m.body = &body
		target := t.document.Components.Schemas[referred(s.Ref)]
		m.mayBeEmpty = target != nil && len(target.Required) == 0
	}
	t.known[done] = true // no client has a type for it
	switch answer := t.of(op.Responses["200"].Content.JSON.Schema, capital(op.ID)+"Answer"); {
	case answer.kind == anything:
		t.errs = append(t.errs, fmt.Errorf("%s: no answer of status 200", op.ID))
	case answer.name != done:
		m.answer = &answer
	}
	return m
}

// split returns the arguments that must be given and those that may be.
func (m method) split() (must, may []argument) {
	n := slices.IndexFunc(m.arguments, func(a argument) bool { return !a.required })
	if n < 0 {
		n = len(m.arguments)
	}
	return m.arguments[:n], m.arguments[n:]
}

// methods returns all operations in the document's order.
func (t *types) methods() (list []method) {
	for _, path := range t.document.Paths {
		for _, op := range path.Value {
			list = append(list, t.method(op.Name, path.Name, op.Value))
		}
	}
	return list
}

// about returns what the document says of the operation.
func (m method) about() string { return strings.TrimSuffix(m.Summary, ".") + ".\n\n" + m.Description }
