package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/web/api/reference"
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

// errorCodes returns what x-error-code can hold. No body has it, so that no operation leads to it.
func (t *types) errorCodes() definition {
	s := t.document.Components.Schemas["ErrorCode"]
	if s == nil || len(s.Enum) == 0 {
		t.errs = append(t.errs, errors.New("the document lists no codes of errors"))
		return definition{name: "ErrorCode"}
	}
	return definition{name: "ErrorCode", about: s.Description, shape: enumeration(s.Enum)}
}

// done is the schema of an answer that says no more than that it is done.
const done = "Done"

// left are headers that the client sends by itself.
var left = map[string]bool{"idempotency-key": true, "x-idempotency-key": true, "x-request-id": true}

// newMethod returns an operation as a method of a client.
func (t *types) newMethod(verb, path string, op operation) method {
	m := method{operation: op, http: strings.ToUpper(verb), path: path}
	m.keyed = reference.Operation{ID: op.ID, Method: m.http}.Keyed()
	for _, raw := range op.Parameters {
		p, err := t.document.parameter(raw)
		if err != nil {
			t.errs = append(t.errs, err)
			continue
		}
		// The same value may go as a header or in the query: the header comes first, as addresses end up in logs.
		twice := slices.ContainsFunc(
			m.arguments,
			func(a argument) bool { return toSnakeCase(a.name) == toSnakeCase(p.Name) },
		)
		if left[strings.ToLower(p.Name)] || twice {
			continue
		}
		m.arguments = append(m.arguments, argument{
			name:     p.Name,
			in:       p.In,
			shape:    t.shapeOfSchema(p.Schema, capitalizeWord(op.ID)+capitalizeWord(p.Name)),
			required: p.Required,
		})
	}
	order := map[bool]int{true: 0, false: 1} // what must be given comes first
	slices.SortStableFunc(m.arguments, func(a, b argument) int { return order[a.required] - order[b.required] })
	if s := op.RequestBody.Content.JSON.Schema; s != nil {
		body := t.shapeOfSchema(s, capitalizeWord(op.ID)+"Body")
		m.body = &body
		target := t.document.Components.Schemas[referred(s.Ref)]
		m.mayBeEmpty = target != nil && len(target.Required) == 0
	}
	t.known[done] = true // no client has a type for it
	switch answer := t.shapeOfSchema(op.Responses["200"].Content.JSON.Schema, capitalizeWord(op.ID)+"Answer"); {
	case answer.kind == anything:
		t.errs = append(t.errs, fmt.Errorf("%s: no answer of status 200", op.ID))
	case answer.name != done:
		m.answer = &answer
	}
	return m
}

// splitArguments returns the arguments that must be given and those that may be.
func (m method) splitArguments() (must, may []argument) {
	n := slices.IndexFunc(m.arguments, func(a argument) bool { return !a.required })
	if n < 0 {
		n = len(m.arguments)
	}
	return m.arguments[:n], m.arguments[n:]
}

// listMethods returns all operations in the document's order.
func (t *types) listMethods() (list []method) {
	for _, path := range t.document.Paths {
		for _, op := range path.Value {
			list = append(list, t.newMethod(op.Name, path.Name, op.Value))
		}
	}
	return list
}

// describeCall returns what the document says of the operation.
func (m method) describeCall() string {
	return strings.TrimSuffix(m.Summary, ".") + ".\n\n" + m.Description
}
