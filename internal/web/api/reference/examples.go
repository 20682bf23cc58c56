package reference

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/goccy/go-yaml"
)

// Example is an operation in one language.
type Example struct{ Language, Label, Code string }

// snippets are the examples in Go and TypeScript by operation. They are cut out of the tests that run them:
// clients/golang/operations_test.go and clients/typescript/test/operations.ts.
type snippets map[string]struct {
	Go         string `json:"go"`
	TypeScript string `json:"typescript"`
}

//go:generate go test -vet=off . -run TestSnippetsAreFresh -update

// readSnippets reads the embedded examples; a test keeps the file equal to the tests that they are cut from.
func readSnippets() (snippets, error) {
	raw, err := files.ReadFile("snippets.json")
	if err != nil {
		return nil, err
	}
	var s snippets
	return s, json.Unmarshal(raw, &s)
}

// makeExamples shows an operation in four languages. curl and Python are made from the contract's own example.
func (o Operation) makeExamples(s snippets) []Example {
	return []Example{
		{"curl", "curl", o.Curl()},
		{"go", "Go", s[o.ID].Go},
		{"python", "Python", o.Python()},
		{"typescript", "TypeScript", s[o.ID].TypeScript},
	}
}

// ExamplePath returns the path with the contract's example values in it, including required query parameters.
func (o Operation) ExamplePath() string {
	path, query := "/v1"+o.Path, url.Values{}
	for _, q := range o.Parameters {
		switch {
		case q.In == "path":
			path = strings.ReplaceAll(path, "{"+q.Name+"}", url.PathEscape(q.Example))
		case q.In == "query" && q.Required:
			query.Set(q.Name, q.Example)
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path
}

// Keyed reports whether the operation takes an idempotency key that is worth showing: asking about a password changes
// nothing, and its answer should be kept nowhere.
func (o Operation) Keyed() bool {
	return o.Method == "POST" && o.ID != "checkPasswordPrefix" && o.ID != "checkCredentialPrefix"
}

// Curl returns the contract's example as a command line of curl.
func (o Operation) Curl() string {
	var b strings.Builder
	b.WriteString("curl -s ")
	if o.Method != "GET" && o.Method != "POST" {
		b.WriteString("-X " + o.Method + " ")
	}
	fmt.Fprintf(&b, "\"$VIGIA_URL%s\" \\\n  -H \"x-api-key: $VIGIA_KEY\"", o.ExamplePath())
	if o.Body == "" {
		return b.String()
	}
	b.WriteString(" \\\n  -H 'content-type: application/json'")
	if o.Keyed() {
		b.WriteString(" \\\n  -H 'idempotency-key: pedido-4711'")
	}
	fmt.Fprintf(&b, " \\\n  -d '%s'", strings.ReplaceAll(o.Body, "'", `'\''`))
	return b.String()
}

// Python returns the contract's example in Python, with the standard library only.
func (o Operation) Python() string {
	imports := []string{"json", "os", "urllib.request"}
	headers := `"x-api-key": os.environ["VIGIA_KEY"]`
	if o.Keyed() {
		imports = append(imports, "uuid")
	}
	var b strings.Builder
	for _, name := range imports {
		b.WriteString("import " + name + "\n")
	}
	if o.Body != "" {
		fmt.Fprintf(&b, "\nbody = %s\n", pythonLiteral(o.Body))
		headers += `, "content-type": "application/json"`
	}
	if o.Keyed() {
		headers += `, "idempotency-key": str(uuid.uuid4())`
	}
	fmt.Fprintf(
		&b,
		"\nrequest = urllib.request.Request(\n    os.environ[\"VIGIA_URL\"] + %q,\n    method=%q,\n    headers={%s},\n",
		o.ExamplePath(),
		o.Method,
		headers,
	)
	if o.Body != "" {
		b.WriteString("    data=json.dumps(body).encode(),\n")
	}
	b.WriteString(")\nwith urllib.request.urlopen(request) as answer:\n    print(json.load(answer))")
	return b.String()
}

// pythonLiteral turns JSON into Python, which differs in three words. They stand alone on their line's end, never
// inside a string of the contract's examples; the test that runs every example would notice.
func pythonLiteral(text string) string {
	for from, to := range map[string]string{"true": "True", "false": "False", "null": "None"} {
		text = strings.ReplaceAll(text, ": "+from, ": "+to)
	}
	return text
}

// exampleJSON writes an example in the document's order.
func (p *reader) exampleJSON(n node) string {
	if n.v == nil {
		return ""
	}
	var b bytes.Buffer
	compact, err := yaml.MarshalWithOptions(n.v, yaml.JSON())
	if err = errors.Join(err, json.Indent(&b, compact, "", "  ")); err != nil {
		p.errs = append(p.errs, fmt.Errorf("an example is no JSON: %w", err))
	}
	return strings.TrimSpace(b.String())
}
