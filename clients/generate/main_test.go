package main

import (
	"os"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/web/api/reference"
)

func contract(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile(documentFile)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestClientsAreFresh: the committed files are those that the contract gives, and every operation has its method.
func TestClientsAreFresh(t *testing.T) {
	text := contract(t)
	files, err := renderFiles(text)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if kept, err := os.ReadFile(name); err != nil || string(kept) != content {
			t.Errorf("%s is stale: go generate ./clients/generate (%v)", name, err)
		}
		for number, line := range strings.Split(content, "\n") {
			if len([]rune(line)) > widest && strings.HasSuffix(name, ".py") {
				t.Errorf("%s:%d is too long", name, number+1)
			}
		}
	}
	c, err := reference.ParseContract(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range c.Operations {
		for file, begin := range map[string]string{
			pythonFolder + "operations.py": "    def " + toSnakeCase(op.ID) + "(\n", scriptFolder + "operations.ts": "\n  " + op.ID + "(",
			goFolder + "operations.go": "\nfunc (c *Client) " + goIdentifier(op.ID) + "(ctx",
		} {
			if !strings.Contains(files[file], begin) {
				t.Errorf("%s has no method %s", file, op.ID)
			}
		}
	}
	if len(c.Operations) < 61 {
		t.Errorf("the contract has %d operations", len(c.Operations))
	}
}

// TestWhatCannotBeMade: what the generator does not understand is an error, and never a client that lacks something.
func TestWhatCannotBeMade(t *testing.T) {
	const small = `
paths:
  /things/{id}:
    post:
      operationId: makeThing
      parameters: [{ $ref: '#/components/parameters/Id' }]
      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/Thing' } } } }
      responses: { '200': { content: { application/json: { schema: { allOf: [{ $ref: '#/components/schemas/Thing' }, { required: [size] }] } } } } }
components:
  parameters: { Id: { name: id, in: path, required: true, schema: { type: string } } }
  schemas:
    Thing: { type: object, properties: { size: { type: integer }, note: { type: [string, 'null'] } } }
    ErrorCode: { type: string, enum: [thing.too_small] }
`
	files, err := renderFiles([]byte(small))
	if err != nil || !strings.Contains(files[pythonFolder+"operations.py"], "        body: Optional[Thing] = None,\n") {
		t.Fatal(files, err)
	}
	for file, constant := range map[string]string{
		goFolder + "codes.go":     `ErrorCodeThingTooSmall ErrorCode = "thing.too_small"`,
		scriptFolder + "codes.ts": `thingTooSmall: "thing.too_small",`,
		pythonFolder + "codes.py": `THING_TOO_SMALL: Final = "thing.too_small"`,
	} {
		if !strings.Contains(files[file], constant) {
			t.Errorf("%s lacks the code of an error:\n%s", file, files[file])
		}
	}
	for name, change := range map[string][2]string{
		"a body that leads nowhere":      {"schema: { $ref: '#/components/schemas/Thing' }", "schema: { $ref: '#/components/schemas/Nothing' }"},
		"a part that leads nowhere":      {"allOf: [{ $ref: '#/components/schemas/Thing' }", "allOf: [{ $ref: '#/components/schemas/Nothing' }"},
		"a parameter that leads nowhere": {"parameters/Id' }", "parameters/Nothing' }"},
		"a type of another language":     {"integer", "decimal"},
		"an answer of another status":    {"'200'", "'201'"},
		"a name that cannot be written":  {"note", "from"},
		"no codes of errors":             {"ErrorCode:", "OtherCode:"},
		"no paths":                       {"paths:", "routes:"},
	} {
		if changed := strings.Replace(small, change[0], change[1], 1); changed == small {
			t.Errorf("%s: the document has no %q", name, change[0])
		} else if _, err := renderFiles([]byte(changed)); err == nil {
			t.Errorf("%s passes", name)
		}
	}
}
