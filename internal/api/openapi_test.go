package api

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
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
	"0 POST /cyber/advise/{userhash}/answers",
	"0 GET /events",
	"0 GET /cyber/findings/{userhash}",
	"0 POST /cyber/findings/{id}/resolve",
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
		want := []int{405, 429, 500, 503}
		if strings.HasPrefix(op.path, "/subscriptions") {
			want = append(want, 401)
		} else {
			want = append(want, 403)
		}
		if op.method == http.MethodPost {
			want = append(want, 400, 409, 413, 415, 422)
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
		}
	}
}

func TestDocumentIsServed(t *testing.T) {
	h := documentHandler()
	first := get(h, "/openapi.yaml", nil)
	if first.Code != http.StatusOK || first.Header().Get("Content-Type") != "application/yaml" || first.Body.String() != string(document) {
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
