package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemas are those of the document, each compiled when it is first asked for. The library that reads the document
// compiles one at every look, which was a quarter of what all tests of this package take.
type schemas struct {
	compiler *jsonschema.Compiler

	mu   sync.Mutex
	made map[*openapi3.Schema]*jsonschema.Schema // under mu
	// inline counts those that have no name in the document; under mu
	inline int
}

const schemaPlace = "https://vigia.example/"

func newSchemas(doc *openapi3.T) (*schemas, error) {
	s := &schemas{compiler: jsonschema.NewCompiler(), made: map[*openapi3.Schema]*jsonschema.Schema{}}
	s.compiler.DefaultDraft(jsonschema.Draft2020)
	s.compiler.AssertFormat()
	err := s.add("document", map[string]any{"components": map[string]any{"schemas": doc.Components.Schemas}})
	if err != nil {
		return nil, err
	}
	for name, ref := range doc.Components.Schemas {
		if s.made[ref.Value], err = s.compiler.Compile(
			schemaPlace + "document#/components/schemas/" + name,
		); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// add gives the compiler a text to find schemas in.
func (s *schemas) add(name string, text any) error {
	raw, err := json.Marshal(text)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(
		bytes.NewReader(
			bytes.ReplaceAll(raw, []byte(`"#/components/`), []byte(`"`+schemaPlace+`document#/components/`)),
		),
	)
	if err != nil {
		return err
	}
	return s.compiler.AddResource(schemaPlace+name, value)
}

// compiled is a schema ready for use.
func (s *schemas) compiled(schema *openapi3.Schema) (*jsonschema.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if made := s.made[schema]; made != nil {
		return made, nil
	}
	s.inline++
	name := fmt.Sprint("inline", s.inline)
	if err := s.add(name, schema); err != nil {
		return nil, err
	}
	made, err := s.compiler.Compile(schemaPlace + name)
	if err == nil {
		s.made[schema] = made
	}
	return made, err
}

// check holds a JSON text against a schema.
func (s *schemas) check(schema *openapi3.Schema, text []byte) error {
	compiled, err := s.compiled(schema)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return compiled.Validate(value)
}

// looks remembers what was found by a check that was made before, in whichever test: most refusals are the same.
type looks struct {
	mu    sync.Mutex
	found map[[32]byte]error
}

// once returns what check finds, which is asked only the first time for these parts.
func (l *looks) once(check func() error, parts ...any) error {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", parts))
	l.mu.Lock()
	before, known := l.found[sum]
	l.mu.Unlock()
	if known {
		return before
	}
	err := check()
	l.mu.Lock()
	l.found[sum] = err
	l.mu.Unlock()
	return err
}

var verified = looks{found: map[[32]byte]error{}}

// verifyOnce checks an answer, what of it was not seen before.
func (c *contract) verifyOnce(
	in *openapi3filter.RequestValidationInput,
	method string,
	res *http.Response,
	body []byte,
) error {
	if res.Header.Get("X-Request-Id") == "" {
		return errors.New("no x-request-id")
	}
	op := in.Route.Operation
	err := verified.once(
		func() error { return c.verifyHeaders(in, res) },
		"headers",
		op.OperationID,
		res.StatusCode,
		sameHeaders(res.Header),
	)
	if err != nil || method == http.MethodHead {
		return err
	}
	return verified.once(
		func() error { return c.verifyBody(op, res, body) },
		"body",
		op.OperationID,
		res.StatusCode,
		res.Header.Get("Content-Type"),
		body,
	)
}

// sameHeaders are the headers of an answer without what differs from one to the next of the same.
func sameHeaders(all http.Header) string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		values := fmt.Sprintf("%q", all[name])
		switch name {
		case "Date", "Content-Length", "X-Request-Id":
			values = ""
		case "Ratelimit": // counts down
			values = anyNumber.ReplaceAllString(values, "0")
		}
		text.WriteString(name + values)
	}
	return text.String()
}

// verifyHeaders checks the status, and that the headers are those which the document has for it: one of the contract
// does not belong on an answer that does not document it, such as Allow on a 404.
func (c *contract) verifyHeaders(in *openapi3filter.RequestValidationInput, res *http.Response) error {
	op := in.Route.Operation
	answer := op.Responses.Status(res.StatusCode)
	if answer == nil {
		return fmt.Errorf("status %d is not documented for %s", res.StatusCode, op.OperationID)
	}
	for name := range res.Header {
		documented := slices.ContainsFunc(
			headerNames(answer.Value),
			func(n string) bool { return strings.EqualFold(n, name) },
		)
		if c.headers[strings.ToLower(name)] && !documented {
			return fmt.Errorf("header %s is not documented for this answer", name)
		}
	}
	options := *in.Options
	options.ExcludeResponseBody = true
	return openapi3filter.ValidateResponse(in.Request.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: res.StatusCode, Header: res.Header, Options: &options,
	})
}

// verifyBody checks the body of an answer that has a documented status.
func (c *contract) verifyBody(op *openapi3.Operation, res *http.Response, body []byte) error {
	if err := strictJSON(body); err != nil {
		return err
	}
	content := op.Responses.Status(res.StatusCode).Value.Content
	if len(content) == 0 {
		return nil
	}
	form := content.Get(res.Header.Get("Content-Type"))
	if form == nil {
		return fmt.Errorf("content type %q is not documented", res.Header.Get("Content-Type"))
	}
	if err := c.schemas.check(form.Schema.Value, body); err != nil {
		return err
	}
	return verifyFixedTexts(form, res.StatusCode, body)
}

// verifyFixedTexts holds what an answer says against the examples of the document: the contract fixes the texts of
// refusals and of what was done, and the document shows them as examples, because a constant in a schema becomes a type
// of one value in many clients. A conflict says what it is about.
func verifyFixedTexts(form *openapi3.MediaType, status int, body []byte) error {
	var said struct {
		Status      int `json:"statusCode"`
		Message     string
		Description *string
		Done        int `json:"status"`
	}
	if json.Unmarshal(body, &said) != nil {
		return nil // a list, or a text in another place
	}
	if said.Status != 0 && said.Status != status {
		return fmt.Errorf("statusCode is %d, the status %d", said.Status, status)
	}
	name, text := "message", said.Message
	switch {
	case status == http.StatusConflict:
		return nil
	case status >= http.StatusBadRequest:
	case said.Description != nil && said.Done == http.StatusOK:
		name, text = "description", *said.Description
	default:
		return nil
	}
	for _, example := range form.Examples {
		shown, _ := example.Value.Value.(map[string]any)
		if shown[name] == text {
			return nil
		}
	}
	return fmt.Errorf("%s %q is in no example of the document", name, text)
}
