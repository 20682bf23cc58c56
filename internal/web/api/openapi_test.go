package api

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"golang.org/x/text/unicode/norm"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// The 14 operations, as the partner contract numbers them, and the extensions after them.
var wantOperations = []string{
	"1 POST /cyber/monitoring",
	"2 GET /cyber/monitoring/{userhash}",
	"3 DELETE /cyber/monitoring/{id}/{userhash}",
	"4 POST /cyber/case",
	"5 GET /cyber/services",
	"6 POST /cyber/epp",
	"7 GET /cyber/epp",
	"8 POST /cyber/password-check",
	"9 GET /cyber/advise/{userhash}",
	"10 GET /cyber/score/{userhash}",
	"11 GET /cyber/insurance/{userhash}",
	"12 POST /subscriptions",
	"13 GET /subscriptions",
	"14 GET /subscriptions/{plan_id}/{beneficiary_cpf}",
	"0 POST /cyber/epp/{key}/activate",
	"0 POST /cyber/assets",
	"0 POST /cyber/monitoring/extra",
	"0 POST /sandbox/clock",
	"0 POST /cyber/advise/{userhash}/answers",
	"0 POST /cyber/case/{id}/cancel",
	"0 DELETE /erasures/{id}",
	"0 POST /subscriptions/{plan_id}/{beneficiary_cpf}/changes",
	"0 POST /cyber/credential-check",
	"0 POST /keys",
	"0 POST /webhooks",
	"0 POST /subscription-changes",
	"0 GET /cyber/breaches/{name}",
	"0 GET /cyber/case/{id}/history/{userhash}",
	"0 GET /erasures/{id}",
	"0 GET /cyber/findings/{id}/plan/{userhash}",
	"0 GET /cyber/epp/{key}",
	"0 GET /cyber/services/{id}",
	"0 GET /statistics",
	"0 GET /usage",
	"0 GET /webhooks/{id}",
	"0 POST /cyber/epp/{key}/heartbeat",
	"0 GET /cyber/breaches",
	"0 GET /cyber/cases/{userhash}",
	"0 GET /cyber/cover/{userhash}",
	"0 GET /erasures",
	"0 GET /events",
	"0 GET /cyber/monitoring/extra/{userhash}",
	"0 GET /cyber/findings/{userhash}",
	"0 GET /keys",
	"0 GET /webhooks",
	"0 POST /cyber/findings/{id}/steps/{step}",
	"0 GET /events/{id}/message",
	"0 POST /cyber/epp/{key}/move",
	"0 POST /subscription-moves",
	"0 POST /cyber/portal-session",
	"0 POST /cyber/case/{id}/rate",
	"0 POST /cyber/case/{id}/rebook",
	"0 POST /cyber/findings/{id}/recheck",
	"0 DELETE /cyber/monitoring/extra/{id}/{userhash}",
	"0 DELETE /webhooks/{id}",
	"0 POST /webhooks/{id}/replay",
	"0 POST /cyber/case/{id}/messages",
	"0 POST /erasures",
	"0 POST /cyber/findings/{id}/resolve",
	"0 DELETE /keys/{id}",
	"0 POST /cyber/epp/{key}/revoke",
	"0 POST /cyber/scores",
	"0 POST /keys/{id}/roll",
	"0 POST /webhooks/{id}/rotate",
	"0 GET /cyber/score/{userhash}/history",
	"0 POST /webhooks/{id}/state",
	"0 POST /webhooks/{id}/test",
}

func TestDocumentHasTheContract(t *testing.T) {
	c := loadContract(t)
	var got []string
	for _, op := range c.operations() {
		got = append(got, fmt.Sprintf("%d %s %s", op.number, op.method, op.path))
		extension, _ := c.doc.Paths.Value(op.path).GetOperation(op.method).Extensions["x-vigia-extension"].(bool)
		if extension != (op.number == 0) {
			t.Errorf("%s: x-vigia-extension is %v", op.id, extension)
		}
	}
	if want := strings.Join(wantOperations, "\n"); strings.Join(got, "\n") != want {
		t.Errorf("operations:\n%s\nwant:\n%s", strings.Join(got, "\n"), want)
	}
	if !norm.NFC.IsNormal(document) {
		t.Error("openapi.yaml is not in NFC: member names such as condições would not match")
	}
}

func TestDocumentNamesEveryStatus(t *testing.T) {
	c := loadContract(t)
	for _, op := range c.operations() {
		want := []int{400, 405, 429, 500, 503} // 400: the query of any route may be broken
		if strings.HasPrefix(op.path, "/subscription") {
			want = append(want, 401)
		} else {
			want = append(want, 403)
		}
		if op.method == http.MethodPost {
			want = append(want, 409, 413, 415, 422)
		}
		responses := c.doc.Paths.Value(op.path).GetOperation(op.method).Responses
		for _, status := range want {
			if responses.Status(status) == nil {
				t.Errorf("%s does not document %d", op.id, status)
			}
		}
		for status, answer := range responses.Map() {
			if id := answer.Value.Headers["x-request-id"]; id == nil || !id.Value.Required {
				t.Errorf("%s %s does not promise x-request-id", op.id, status)
			}
			if status != "401" && status != "403" && answer.Value.Headers["RateLimit"] == nil {
				t.Errorf("%s %s does not document RateLimit", op.id, status)
			}
		}
	}
}

// TestDocumentIsServedAsJSON: /openapi.json is the same document, member for member, and of the same loader's liking.
func TestDocumentIsServedAsJSON(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	res, err := http.Get(s.server.URL + "/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "application/json" ||
		res.Header.Get("ETag") == "" {
		t.Fatalf("answered %d, %v", res.StatusCode, res.Header)
	}
	if err := strictJSON(body); err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(body)
	if err != nil {
		t.Fatal(err)
	}
	got, err := doc.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	want, err := loadContract(t).doc.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("openapi.json says something else than openapi.yaml")
	}
	if again := get(
		jsonDocumentHandler(),
		"/openapi.json",
		http.Header{"If-None-Match": {res.Header.Get("ETag")}},
	); again.Code != http.StatusNotModified {
		t.Errorf("with its ETag: %d", again.Code)
	}
}

// TestPatternsArePortable: Python, JavaScript, Java and Go read every pattern the same way. What they do not share are
// classes by property, groups with a question mark, the anchors \A and \z, and the shorthands, which cover other
// characters from one to the other.
func TestPatternsArePortable(t *testing.T) {
	found := regexp.MustCompile(`(?m)pattern: '(.*?)'`).FindAllSubmatch(document, -1)
	if len(found) < 10 {
		t.Fatalf("only %d patterns found", len(found))
	}
	differs := regexp.MustCompile(`\\[^x.]|\\x[^0-9A-F]|\(\?|\[\[|\[:|&&|[*+?}][+]`)
	for _, p := range found {
		if what := differs.Find(p[1]); what != nil {
			t.Errorf("%s: %s is not read the same way everywhere", p[1], what)
		}
		if !bytes.HasPrefix(p[1], []byte("^")) || !bytes.HasSuffix(p[1], []byte("$")) {
			t.Errorf("%s: not anchored, and some tools anchor by themselves", p[1])
		}
	}
}

func TestDocumentIsServed(t *testing.T) {
	h := documentHandler()
	first := get(h, "/openapi.yaml", nil)
	if first.Code != http.StatusOK || first.Header().Get("Content-Type") != "application/yaml" ||
		first.Body.String() != string(document) {
		t.Fatalf("answered %d, %s, %d bytes", first.Code, first.Header().Get("Content-Type"), first.Body.Len())
	}
	again := get(h, "/openapi.yaml", http.Header{"If-None-Match": {first.Header().Get("ETag")}})
	if again.Code != http.StatusNotModified || again.Body.Len() != 0 {
		t.Errorf("with its ETag: %d, %d bytes", again.Code, again.Body.Len())
	}
}

// The reference itself is tested in its own package; here only that it is there.
func TestReferenceIsServed(t *testing.T) {
	h := referenceHandler()
	for target, want := range map[string]int{"/docs/": 200, "/docs/operations/addMonitoredAsset": 200, "/docs/nothing": 404} {
		if page := get(h, target, nil); page.Code != want {
			t.Errorf("%s: %d", target, page.Code)
		}
	}
}

func get(h http.Handler, path string, header http.Header) *httptest.ResponseRecorder {
	req := httptest.NewRequest(http.MethodGet, path, nil)
	for name, values := range header {
		req.Header[name] = values
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w
}
