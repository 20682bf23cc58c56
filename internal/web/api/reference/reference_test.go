package reference

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

func document(t *testing.T) []byte {
	t.Helper()
	raw, err := os.ReadFile("../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func contract(t *testing.T) *Contract {
	t.Helper()
	c, err := ParseContract(document(t))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// written are all pages, made once for all tests, which only read them.
var written = sync.OnceValues(func() (map[string][]byte, error) {
	raw, err := os.ReadFile("../openapi.yaml")
	if err != nil {
		return nil, err
	}
	return writeReference(raw)
})

func pages(t *testing.T) map[string][]byte {
	t.Helper()
	all, err := written()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var (
	address = regexp.MustCompile(`(?:src|href)="([^"]*)"`)
	anchor  = regexp.MustCompile(`id="([^"]+)"`)
)

// TestPagesPointSomewhere: everything that a page names is served here, anchors included, and nothing names another
// host except as a link for readers.
func TestPagesPointSomewhere(t *testing.T) {
	all := pages(t)
	if len(all) < 25 {
		t.Fatalf("only %d files", len(all))
	}
	for name, content := range all {
		if contentTypeOf(name) != "text/html; charset=utf-8" {
			continue
		}
		for _, m := range address.FindAllStringSubmatch(string(content), -1) {
			target, fragment, _ := strings.Cut(m[1], "#")
			switch {
			case strings.HasPrefix(m[0], "src=") && strings.Contains(target, ":"):
				t.Errorf("%s loads %s", name, m[1])
			case target == "data:,", strings.HasPrefix(target, "https://"):
				continue
			}
			to := name
			if target != "" {
				to = path.Join("/docs", path.Dir("/"+name), target)
				if to == "/openapi.yaml" || to == "/openapi.pt.yaml" {
					continue
				}
				to = strings.TrimPrefix(strings.TrimPrefix(to, "/docs"), "/")
			}
			page, ok := all[to]
			if !ok {
				page, ok = all[to+"/"] // a folder's own page
			}
			if !ok {
				t.Errorf("%s points to %s (%q), which is not there", name, m[1], to)
				continue
			}
			if fragment != "" && !slices.ContainsFunc(anchor.FindAllStringSubmatch(string(page), -1), func(a []string) bool { return a[1] == fragment }) {
				t.Errorf("%s points to %s: no such anchor", name, m[1])
			}
		}
	}
}

func TestNothingInline(t *testing.T) {
	for name, content := range pages(t) {
		if contentTypeOf(name) != "text/html; charset=utf-8" {
			continue
		}
		text := regexp.MustCompile(`(?s)<pre.*?</pre>|<textarea.*?</textarea>`).ReplaceAllString(string(content), "")
		for _, tag := range regexp.MustCompile(`<script[^>]*>`).FindAllString(text, -1) {
			if !strings.Contains(tag, "src=") {
				t.Errorf("%s: inline %s", name, tag)
			}
		}
		if inline := regexp.MustCompile(`<style|\sstyle=|\son[a-z]+=`).FindString(text); inline != "" {
			t.Errorf("%s: inline %s", name, inline)
		}
	}
}

func TestServed(t *testing.T) {
	h, err := NewHandler(document(t))
	if err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]int{
		"/docs/": 200, "/docs/docs.css": 200, "/docs/docs.js": 200, "/docs/errors": 200, "/docs/operations/riskScore": 200,
		"/docs/guides/first-hour": 200, "/docs/nothing": 404, "/docs/operations/": 404,
		"/docs/en/": 200, "/docs/en/guides/first-hour": 200, "/docs/en/operations/riskScore": 200, "/docs/en/nothing": 404,
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
		if w.Code != want {
			t.Errorf("%s: %d", target, w.Code)
		}
		if p := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(p, "default-src 'none';") || strings.Contains(p, "unsafe") {
			t.Errorf("%s: policy %q", target, p)
		}
	}
}

// TestEveryOperationIsWhole: four examples, a body where there is one, members, an answer, and a page of errors that
// knows every status and every sentence of the contract.
func TestEveryOperationIsWhole(t *testing.T) {
	all, c := pages(t), contract(t)
	kept, err := readSnippets()
	if err != nil {
		t.Fatal(err)
	}
	errorsPage := string(all["en/errors"])
	if portuguese := string(all["errors"]); strings.Count(portuguese, "<h2") != strings.Count(errorsPage, "<h2") {
		t.Error("the page of errors has other headings in Portuguese")
	}
	for _, op := range c.Operations {
		if all["operations/"+op.ID] == nil || all["en/operations/"+op.ID] == nil || op.Summary == "" || op.Tag == "" {
			t.Errorf("%s has no page", op.ID)
		}
		for _, e := range op.makeExamples(kept) {
			if strings.TrimSpace(e.Code) == "" {
				t.Errorf("%s has no example in %s", op.ID, e.Label)
			}
		}
		if strings.Contains(op.ExamplePath(), "{") {
			t.Errorf("%s: no example for a part of %s", op.ID, op.Path)
		}
		if op.Method == http.MethodPost && (op.Body == "" || len(op.Members) == 0) {
			t.Errorf("%s: no body", op.ID)
		}
		for _, r := range op.Responses {
			if strings.HasPrefix(r.Status, "2") {
				if r.Body == "" {
					t.Errorf("%s: answer %s has no example", op.ID, r.Status)
				}
				continue
			}
			said := regexp.MustCompile(`"message": "([^"]+)"`).FindStringSubmatch(r.Body)
			if said == nil || !strings.Contains(errorsPage, `id="`+r.Status+`"`) ||
				!strings.Contains(errorsPage, said[1]) {
				t.Errorf("%s: the page of errors does not explain %s %s", op.ID, r.Status, r.Body)
			}
		}
	}
	if len(c.Events) != 18 {
		t.Errorf("%d events", len(c.Events))
	}
}

func TestMembers(t *testing.T) {
	var create Operation
	for _, op := range contract(t).Operations {
		if op.ID == "createSubscriptions" {
			create = op
		}
	}
	for name, required := range map[string]bool{
		"[].start_date": true, "[].group_size": false, "[].beneficiary.cpf": true, "[].beneficiary.address.complement": false,
		"[].beneficiary.address.state": true,
	} {
		i := slices.IndexFunc(create.Members, func(m Member) bool { return m.Name == name })
		if i < 0 || create.Members[i].Required != required || create.Members[i].Type == "" {
			t.Errorf("%s: %v", name, create.Members)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{"", "a: [", "paths: {}", "paths: {/x: {get: {parameters: [{$ref: '#/components/parameters/None'}]}}}"} {
		if _, err := ParseContract([]byte(text)); err == nil {
			t.Errorf("accepted %q", text)
		}
	}
}
