package api

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// promises are what a partner's program may rely on, one line each: an operation, what it takes, what it asks for, what
// it answers with.
func promises(c *contract) []string {
	var lines []string
	for _, op := range c.operations() {
		defined := c.doc.Paths.Value(op.path).GetOperation(op.method)
		name := op.method + " " + op.path
		lines = append(lines, name)
		for _, p := range defined.Parameters {
			lines = append(lines, fmt.Sprintf("%s takes %s %s", name, p.Value.In, p.Value.Name))
			if p.Value.Required {
				lines = append(lines, fmt.Sprintf("%s needs %s %s", name, p.Value.In, p.Value.Name))
			}
		}
		if defined.RequestBody != nil {
			lines = members(
				lines,
				name+" takes body",
				name+" needs body",
				defined.RequestBody.Value.Content["application/json"].Schema,
				nil,
			)
		}
		for status, answer := range defined.Responses.Map() {
			lines = append(lines, name+" answers "+status)
			if content := answer.Value.Content["application/json"]; content != nil {
				lines = members(lines, name+" answers "+status, "", content.Schema, nil)
			}
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// members walks through a schema. needs is empty where nothing is asked of a partner.
func members(lines []string, has, needs string, ref *openapi3.SchemaRef, above []*openapi3.Schema) []string {
	if ref == nil || ref.Value == nil || slices.Contains(above, ref.Value) {
		return lines
	}
	s := ref.Value
	above = append(slices.Clone(above), s)
	if s.Type != nil {
		kinds := slices.Sorted(slices.Values(s.Type.Slice()))
		lines = append(lines, has+" as "+strings.Join(kinds, " or "))
	}
	for _, part := range slices.Concat(s.AllOf, s.OneOf, s.AnyOf) {
		lines = members(lines, has, needs, part, above)
	}
	if s.Items != nil {
		lines = members(lines, has+"[]", orNone(needs, "[]"), s.Items, above)
	}
	for name, member := range s.Properties {
		lines = append(lines, has+"."+name)
		if needs != "" && slices.Contains(s.Required, name) {
			lines = append(lines, needs+"."+name)
		}
		if needs == "" && slices.Contains(s.Required, name) {
			lines = append(lines, has+"."+name+" always")
		}
		lines = members(lines, has+"."+name, orNone(needs, "."+name), member, above)
	}
	return lines
}

func orNone(needs, more string) string {
	if needs == "" {
		return ""
	}
	return needs + more
}

// TestContractKeepsItsPromises: the contract may grow, but what a partner's program relies on stays: no operation,
// status, parameter or member goes or changes its type, and nothing that was optional is asked for. A new major version
// is the place for that; -update writes the promises anew after an addition.
func TestContractKeepsItsPromises(t *testing.T) {
	const file = "testdata/contract.promises"
	now := promises(loadContract(t))
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(now, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	promised := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, line := range promised {
		if !slices.Contains(now, line) && !strings.Contains(line, " needs ") { // asking for less breaks nobody
			t.Errorf("no longer true: %s", line)
		}
	}
	for _, line := range now {
		operation, _, needs := strings.Cut(line, " needs ")
		if needs && slices.Contains(promised, operation) && !slices.Contains(promised, line) {
			t.Errorf("not asked for before: %s", line)
		}
		if !slices.Contains(promised, line) && !needs {
			t.Logf("new, and not promised until -update: %s", line)
		}
	}
	if len(promised) < 300 {
		t.Errorf("only %d promises", len(promised))
	}
}
