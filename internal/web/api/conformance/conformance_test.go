// Package conformance_test holds the running service against the partner contract, from outside: over HTTP, on the
// whole service, with expectations that come from the contract and its decisions and from nothing of the
// implementation. Each check is one row: an operation, a rule, a request, and what the contract says to it. A rule is a
// function that returns rows; `rules` lists them.
package conformance_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// minimum is how many checks the suite promises.
const minimum = 2000

// rules are the parts of the suite, in the order in which they run.
var rules = []struct {
	name string
	rows func(w *world) []check
}{
	{"credentials", credentialRows},
	{"credentials first", credentialsFirstRows},
	{"scopes", scopeRows},
	{"methods", methodRows},
	{"unknown paths", unknownPathRows},
	{"content types", contentTypeRows},
	{"broken JSON", brokenJSONRows},
	{"lenient JSON", lenientJSONRows},
	{"sizes", sizeRows},
	{
		"request ids",
		requestIDRows,
	},
	{"queries", queryRows},
	{"user hashes", userHashRows},
	{"idempotency", idempotencyRows},
	{
		"cyber members",
		cyberMemberRows,
	},
	{"e-mails", emailRows},
	{"CPFs", cpfRows},
	{"phones", phoneRows},
	{"cards", cardRows},
	{"one person", personRows},
	{"cases", caseRows},
	{"devices", deviceRows},
	{"passwords", passwordRows},
	{"people", peopleRows},
	{"bulk members", bulkMemberRows},
	{"bulk texts", bulkTextRows},
	{"bulk dates", bulkDateRows},
	{
		"bulk people",
		bulkPersonRows,
	},
	{"bulk groups", bulkGroupRows},
	{"bulk outcomes", bulkOutcomeRows},
	{"pages", pageRows},
	{
		"single subscriptions",
		singleRows,
	},
	{"tenancy", tenancyRows},
	{"findings and events", findingRows},
	{"answers", answerRows},
	{"decided later", decidedRows},
}

// check is one row.
type check struct {
	op, rule string
	request
	expect
}

// request is what is sent. Without a key of its own it carries the world's sandbox key.
type request struct {
	method, path, body string
	key                string
	header             http.Header
}

// expect is what the contract says. A refusal's body follows from its status and its area; a success is looked at by
// holds.
type expect struct {
	status  int
	message string // of a refusal, where the contract gives it; else any
	headers map[string]string
	holds   func(answer) error
}

// answer is a response read whole.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// TestConformance runs every row.
func TestConformance(t *testing.T) {
	w := newWorld(t)
	total := 0
	for _, rule := range rules {
		t.Run(rule.name, func(t *testing.T) {
			rows := rule.rows(w)
			if len(rows) == 0 {
				t.Error("no rows")
			}
			for _, c := range rows {
				if err := w.try(c); err != nil {
					t.Errorf("%s: %s: %v", c.op, c.rule, err)
				}
			}
			total += len(rows)
		})
	}
	t.Logf("%d checks", total)
	fmt.Printf("conformance: %d checks\n", total)
	if total < minimum && !t.Failed() {
		t.Errorf("only %d checks, the suite promises %d", total, minimum)
	}
}

// try sends a row and judges the answer.
func (w *world) try(c check) error {
	got, err := w.send(c.request)
	if err != nil {
		return err
	}
	if err := judge(c, got); err != nil {
		return fmt.Errorf("%s %.120s: %w\nsent: %.300q\ngot %d %.300q detail %q", c.method, c.path, err, c.body,
			got.status, got.body, got.header.Get("x-error-detail"))
	}
	return nil
}

// send makes the request as it is written: nothing is cleaned or added but the key and the type of a body.
func (w *world) send(r request) (answer, error) {
	var body io.Reader
	if r.body != "" {
		body = strings.NewReader(r.body)
	}
	req, err := http.NewRequest(r.method, w.url, body)
	if err != nil {
		return answer{}, err
	}
	path, query, asked := strings.Cut(r.path, "?")
	req.URL.Opaque = "//" + req.URL.Host + path // as it is, however it is escaped
	req.URL.RawQuery, req.URL.ForceQuery = query, asked
	if r.key == "" {
		r.key = w.sandbox.key
	}
	if r.key != noKey {
		req.Header.Set("x-api-key", r.key)
	}
	if r.body != "" {
		req.Header.Set("content-type", "application/json")
	}
	for name, values := range r.header {
		if req.Header[http.CanonicalHeaderKey(name)] = values; values == nil {
			req.Header.Del(name)
		}
	}
	res, err := w.http.RoundTrip(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header, text}, err
}

var (
	safeID    = regexp.MustCompile(`^[\x21-\x7e]{1,128}$`)
	asciiLine = regexp.MustCompile(`^[\x20-\x7e]*[A-Za-z0-9_.-]+: [\x20-\x7e]+$`)
)

// judge holds an answer against its row, and against what holds for all answers.
func judge(c check, got answer) error {
	if got.status != c.status {
		return fmt.Errorf("want status %d", c.status)
	}
	if id := got.header.Get("x-request-id"); !safeID.MatchString(id) {
		return fmt.Errorf("x-request-id %q", id)
	}
	if kind, _, _ := strings.Cut(got.header.Get("content-type"), ";"); kind != "application/json" {
		return fmt.Errorf("content-type %q", kind)
	}
	if refusedKey := got.status == http.StatusUnauthorized ||
		got.status == http.StatusForbidden; !refusedKey &&
		got.header.Get("ratelimit") == "" {
		return errors.New("no RateLimit on an authenticated answer")
	}
	for name, want := range c.headers {
		if have := got.header.Get(name); have != want && (want != present || have == "") {
			return fmt.Errorf("header %s is %q, want %q", name, have, want)
		}
	}
	if c.method == http.MethodHead {
		if len(got.body) > 0 {
			return errors.New("a body after HEAD")
		}
		return nil
	}
	if got.status >= http.StatusBadRequest {
		if err := judgeRefusal(c, got); err != nil {
			return err
		}
	}
	if c.holds != nil {
		return c.holds(got)
	}
	return nil
}

// present asks for a header, whatever it says.
const present = "*"

// judgeRefusal checks the shape of the area, the message, and the detail.
func judgeRefusal(c check, got answer) error {
	var body map[string]any
	if err := json.Unmarshal(got.body, &body); err != nil {
		return err
	}
	message, _ := body["message"].(string)
	want := map[string]any{"message": message}
	if !strings.HasPrefix(strings.TrimPrefix(c.path, "/v1"), "/subscriptions") {
		want["statusCode"] = float64(got.status)
	}
	if message == "" || !reflect.DeepEqual(body, want) {
		return fmt.Errorf("want exactly the members of %v", want)
	}
	if c.message == "" {
		c.message = messages[got.status]
	}
	if c.message != "" && message != c.message {
		return fmt.Errorf("want the message %q", c.message)
	}
	detail := got.header.Get("x-error-detail")
	if got.status == http.StatusBadRequest && !asciiLine.MatchString(detail) {
		return fmt.Errorf("x-error-detail %q does not name a field and a rule", detail)
	}
	for _, value := range values(c.body) {
		if len(value) > 7 && strings.Contains(detail, value) && !slices.Contains(ownWords, value) {
			return fmt.Errorf("x-error-detail repeats %q", value)
		}
	}
	later := got.status == http.StatusTooManyRequests || got.status == http.StatusServiceUnavailable
	if later && got.header.Get("retry-after") == "" {
		return errors.New("no Retry-After")
	}
	return nil
}

// messages are those that the contract gives for a status, whatever the operation.
var messages = map[int]string{
	400: "Request Inválida. Dados de entrada inválidos.",
	401: "Não autorizado",
	403: "Request Proibida.",
	500: "Erro de Aplicação",
}

// ownWords are the contract's own: a detail may name them although somebody sent them.
var ownWords = []string{"antivirus", "credit_card", "password_changed", "account_closed", "card_replaced"}

// values are the texts in a body.
func values(body string) []string {
	var v any
	if len(body) > 1<<20 || json.Unmarshal([]byte(body), &v) != nil {
		return nil
	}
	var list []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, inner := range v {
				walk(inner)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		case string:
			list = append(list, v)
		}
	}
	walk(v)
	return list
}

// is wants exactly this JSON.
func is(want string) func(answer) error {
	return func(got answer) error {
		var a, b any
		if err := json.Unmarshal(got.body, &a); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(want), &b); err != nil {
			return err
		}
		if !reflect.DeepEqual(a, b) {
			return fmt.Errorf("want %s", want)
		}
		return nil
	}
}

// has reads the body into a value of the caller's and wants it to hold.
func has[T any](holds func(T) error) func(answer) error {
	return func(got answer) error {
		var v T
		if err := json.Unmarshal(got.body, &v); err != nil {
			return err
		}
		return holds(v)
	}
}

// same tells what differs between a value and what it should be.
func same[T any](got, want T) error {
	if diff := cmp.Diff(want, got); diff != "" {
		return fmt.Errorf("(-want +got):\n%s", diff)
	}
	return nil
}

// text writes a JSON string.
func text(s string) string {
	b, _ := json.Marshal(s) // a string
	return string(b)
}
