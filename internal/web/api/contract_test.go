package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/go-json-experiment/json/jsontext"
)

// contract holds exchanges against openapi.yaml and counts what it has seen. It is safe for parallel tests.
//
// An answer is always checked: its status must be documented for the operation, its headers and body must match, and
// neither may hold anything undocumented. A request is checked only when it was accepted, as tests send bad ones on
// purpose. Paths outside the contract (/healthz, /docs/) are none of its business.
type contract struct {
	doc     *openapi3.T
	router  routers.Router
	schemas *schemas
	// headers are the names, in lower case, of all response headers that some operation documents.
	headers map[string]bool

	mu   sync.Mutex
	seen map[string]map[int]int // operation id -> status -> exchanges; under mu
}

// operation is one row of the contract.
type operation struct {
	id, method, path string
	number           int // in the partner contract, 1 to 14; 0 for an extension
}

// parsedContract is shared: reading and validating the document takes longer than most tests.
var parsedContract = sync.OnceValues(func() (*contract, error) {
	doc, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		return nil, err
	}
	if err := doc.Validate(context.Background()); err != nil {
		return nil, err
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		return nil, err
	}
	schemas, err := newSchemas(doc)
	if err != nil {
		return nil, err
	}
	c := &contract{doc: doc, router: router, schemas: schemas, headers: map[string]bool{}}
	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			for _, answer := range op.Responses.Map() {
				for name := range answer.Value.Headers {
					c.headers[strings.ToLower(name)] = true
				}
			}
		}
	}
	return c, nil
})

// loadContract returns the document with nothing seen yet.
func loadContract(t testing.TB) *contract {
	t.Helper()
	shared, err := parsedContract()
	if err != nil {
		t.Fatalf("openapi.yaml: %v", err)
	}
	return &contract{
		doc:     shared.doc,
		router:  shared.router,
		schemas: shared.schemas,
		headers: shared.headers,
		seen:    map[string]map[int]int{},
	}
}

// check fails the test when the exchange breaks the contract. The bodies are passed apart, as the readers are used up
// by then. A nil reqBody leaves the request's body unchecked, for a request that stretches the rules and is accepted.
func (c *contract) check(t testing.TB, req *http.Request, reqBody []byte, res *http.Response, resBody []byte) {
	t.Helper()
	if err := c.verify(req, reqBody, res, resBody); err != nil {
		t.Errorf(
			"contract: %s %s answered %d: %v\nbody: %.2000s",
			req.Method,
			req.URL.EscapedPath(),
			res.StatusCode,
			err,
			resBody,
		)
	}
}

func (c *contract) verify(req *http.Request, reqBody []byte, res *http.Response, resBody []byte) error {
	found, params, err := c.find(req)
	if err != nil {
		return c.verifyUnrouted(req, res, resBody)
	}
	if found.Method != req.Method && req.Method != http.MethodHead && res.StatusCode < 300 {
		return fmt.Errorf("method %s is not documented", req.Method)
	}
	input := &openapi3filter.RequestValidationInput{
		Request: readable(req, found.Method, reqBody), PathParams: params, Route: found,
		Options: &openapi3filter.Options{
			SkipSettingDefaults: true, AuthenticationFunc: keyPresent,
			ExcludeRequestBody: reqBody == nil || !whollyAccepted(found.Operation, resBody),
		},
	}
	if err := c.verifyOnce(input, req.Method, res, resBody); err != nil {
		return err
	}
	if res.StatusCode < 300 && found.Method == req.Method {
		if err := openapi3filter.ValidateRequest(context.Background(), input); err != nil {
			return fmt.Errorf("accepted request: %w", err)
		}
	}
	c.record(found, req, res.StatusCode)
	return nil
}

// find returns the operation of a request. HEAD counts as GET. Where the path exists and the method does not, it lends
// another operation of the path: a 405, or a refused key before it, has the same form for all of them.
func (c *contract) find(req *http.Request) (*routers.Route, map[string]string, error) {
	methods := []string{req.Method, http.MethodGet, http.MethodPost, http.MethodDelete}
	var err error
	for _, method := range methods {
		ask := req.Clone(context.Background())
		ask.Method = method
		var found *routers.Route
		var params map[string]string
		if found, params, err = c.router.FindRoute(ask); err == nil {
			for name, value := range params { // the router leaves them as they were sent
				if params[name], err = url.PathUnescape(value); err != nil {
					return nil, nil, err
				}
			}
			return found, params, nil
		}
		if !errors.Is(err, routers.ErrMethodNotAllowed) {
			return nil, nil, err
		}
	}
	return nil, nil, err
}

// verifyUnrouted checks the refusal of a path that the contract does not have: the shape of its area, nothing else.
func (c *contract) verifyUnrouted(req *http.Request, res *http.Response, body []byte) error {
	path := strings.TrimPrefix(req.URL.Path, "/v1")
	var schema string
	switch {
	case under(path, "/cyber"),
		under(path, "/events"),
		under(path, "/webhooks"),
		under(path, "/keys"),
		under(path, "/usage"),
		under(path, "/statistics"):
		schema = "CyberError"
	case under(path, "/subscriptions"), under(path, movesPath), under(path, editsPath):
		schema = "SubscriptionError"
	default:
		return nil
	}
	if res.StatusCode < 400 {
		return errors.New("path is not documented")
	}
	if res.Header.Get("x-request-id") == "" {
		return errors.New("no x-request-id")
	}
	if req.Method == http.MethodHead {
		return nil
	}
	if err := strictJSON(body); err != nil {
		return err
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return err
	}
	if object, ok := value.(map[string]any); ok && schema == "CyberError" &&
		object["statusCode"] != float64(res.StatusCode) {
		return fmt.Errorf("statusCode %v is not the status", object["statusCode"])
	}
	return c.schemas.check(c.doc.Components.Schemas[schema].Value, body)
}

func (c *contract) record(found *routers.Route, req *http.Request, status int) {
	if found.Method != req.Method {
		return // a lent operation was not exercised
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	id := found.Operation.OperationID
	if c.seen[id] == nil {
		c.seen[id] = map[int]int{}
	}
	c.seen[id][status]++
}

// operations lists the contract, the 14 operations first and in their order, then the extensions.
func (c *contract) operations() []operation {
	var list []operation
	for path, item := range c.doc.Paths.Map() {
		for method, op := range item.Operations() {
			number, _ := op.Extensions["x-contract-operation"].(float64)
			list = append(list, operation{id: op.OperationID, method: method, path: path, number: int(number)})
		}
	}
	slices.SortFunc(list, func(a, b operation) int {
		if (a.number == 0) != (b.number == 0) {
			return b.number - a.number
		}
		if a.number != b.number {
			return a.number - b.number
		}
		return strings.Compare(a.id, b.id)
	})
	return list
}

// unseen names those of the 14 operations that have not yet answered with a status that counts.
func (c *contract) unseen(counts func(status int) bool) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var missing []string
	for _, op := range c.operations() {
		answered := false
		for status := range c.seen[op.id] {
			answered = answered || counts(status)
		}
		if op.number != 0 && !answered {
			missing = append(missing, op.id)
		}
	}
	return missing
}

// coverage is a table for people: each operation, the statuses it documents, how often each was seen.
func (c *contract) coverage() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var table strings.Builder
	for _, op := range c.operations() {
		fmt.Fprintf(&table, "%-26s", op.id)
		responses := c.doc.Paths.Value(op.path).GetOperation(op.method).Responses
		for _, status := range slices.Sorted(maps.Keys(responses.Map())) {
			var code int
			_, _ = fmt.Sscan(status, &code)
			fmt.Fprintf(&table, "  %s:%d", status, c.seen[op.id][code])
		}
		table.WriteByte('\n')
	}
	return table.String()
}

// whollyAccepted says whether all of a 2xx request's body was accepted. A bulk request may hold bad items, which are
// reported, not refused.
func whollyAccepted(op *openapi3.Operation, answer []byte) bool {
	if op.OperationID != "createSubscriptions" {
		return true
	}
	var outcome struct {
		NotCreated float64 `json:"total_not_created_items"`
	}
	return json.Unmarshal(answer, &outcome) == nil && outcome.NotCreated == 0
}

// readable is the request with its body back in place, declared as what an accepted body was taken for.
func readable(req *http.Request, method string, body []byte) *http.Request {
	again := req.Clone(context.Background())
	again.Method = method
	again.Body = io.NopCloser(bytes.NewReader(body))
	again.Header.Set("Content-Type", "application/json")
	return again
}

// strictJSON also refuses what lenient decoders pass over: a member twice, bad UTF-8, trailing bytes.
func strictJSON(body []byte) error {
	if !jsontext.Value(body).IsValid() {
		return errors.New("body is not one strict JSON value")
	}
	return nil
}

func keyPresent(_ context.Context, in *openapi3filter.AuthenticationInput) error {
	if in.RequestValidationInput.Request.Header.Get("x-api-key") == "" {
		return errors.New("no x-api-key on an accepted request")
	}
	return nil
}

func headerNames(r *openapi3.Response) []string { return slices.Collect(maps.Keys(r.Headers)) }

func under(path, area string) bool { return path == area || strings.HasPrefix(path, area+"/") }
