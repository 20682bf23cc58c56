package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/app/apptest"
)

func made(t *testing.T) []byte {
	t.Helper()
	document, err := os.ReadFile(documentFile)
	if err != nil {
		t.Fatal(err)
	}
	text, err := collection(document)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestCollectionIsFresh(t *testing.T) {
	if kept, err := os.ReadFile(collectionFile); err != nil || !bytes.Equal(kept, made(t)) {
		t.Error("the collection is stale: go generate ./clients/collections", err)
	}
}

// TestCollectionRuns sends every request of the collection from top to bottom as a reader of the format would, keeping
// what the scripts keep, with the key that 'vigia partner create --sandbox' prints.
func TestCollectionRuns(t *testing.T) {
	s := apptest.Start(t)
	var f file
	if err := json.Unmarshal(made(t), &f); err != nil {
		t.Fatal(err)
	}
	variables := map[string]string{}
	for _, v := range f.Variable {
		variables[v.Key] = v.Value
	}
	variables["url"], variables["key"], variables["webhookUrl"] = s.URL, s.Sandbox.APIKey, s.URL+"/gancho"
	count := 0
	for _, group := range f.Item {
		for _, it := range group.Item {
			count++
			got := send(t, f.Auth, it.Request, variables)
			asserted := 0
			for _, e := range it.Event {
				for _, line := range e.Script.Exec {
					asserted += runScript(t, group.Name+" / "+it.Name, line, got, variables)
				}
			}
			if asserted == 0 {
				t.Errorf("%s / %s asserts nothing", group.Name, it.Name)
			}
		}
	}
	if count < 63 {
		t.Errorf("%d requests", count)
	}
}

// filled puts the variables in.
func filled(text string, variables map[string]string) string {
	for name, value := range variables {
		text = strings.ReplaceAll(text, "{{"+name+"}}", value)
	}
	return strings.ReplaceAll(text, "{{$guid}}", rand.Text())
}

// answered is what came back.
type answered struct {
	status int
	header http.Header
	body   string
}

// send sends a request of the collection, with the auth of the collection.
func send(t *testing.T, a auth, r request, variables map[string]string) answered {
	t.Helper()
	target := r.URL.Raw
	for _, v := range r.URL.Variable {
		target = strings.ReplaceAll(target, ":"+v.Key, v.Value)
	}
	var text string
	if r.Body != nil {
		text = filled(r.Body.Raw, variables)
	}
	req, err := http.NewRequestWithContext(t.Context(), r.Method, filled(target, variables), strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range r.Header {
		if !h.Disabled {
			req.Header.Set(h.Key, filled(h.Value, variables))
		}
	}
	req.Header.Set(a.APIKey[0].Value, filled(a.APIKey[1].Value, variables))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answered{res.StatusCode, res.Header, string(answer)}
}

var (
	kept      = regexp.MustCompile(`^pm\.collectionVariables\.set\("(\w+)", pm\.response\.json\(\)(\S+)\);$`)
	step      = regexp.MustCompile(`\.(\w+)|\[(\d+)\]`)
	hasStatus = regexp.MustCompile(`=> pm\.response\.to\.have\.status\((\d+)\)\);$`)
	oneOf     = regexp.MustCompile(`=> pm\.expect\(pm\.response\.code\)\.to\.be\.oneOf\(\[(\d+), (\d+)\]\)\);$`)
	hasHeader = regexp.MustCompile(`=> pm\.response\.to\.have\.header\("([a-z-]+)"\)\);$`)
	hasMember = regexp.MustCompile(`=> pm\.expect\(pm\.response\.json\(\)\)\.to\.have\.property\("([^"]+)"\)\);$`)
)

// runScript does what Postman would do with a line of a script, and returns how many assertions it had.
func runScript(t *testing.T, name, line string, got answered, variables map[string]string) int {
	t.Helper()
	if m := kept.FindStringSubmatch(line); m != nil {
		if got.status == http.StatusOK {
			variables[m[1]] = textAt(t, line, m[2], got.body)
		}
		return 0
	}
	holds := false
	status := strconv.Itoa(got.status)
	if m := hasStatus.FindStringSubmatch(line); m != nil {
		holds = m[1] == status
	} else if m := oneOf.FindStringSubmatch(line); m != nil {
		holds = slices.Contains(m[1:], status)
	} else if m := hasHeader.FindStringSubmatch(line); m != nil {
		holds = got.header.Get(m[1]) != ""
	} else if m := hasMember.FindStringSubmatch(line); m != nil {
		var object map[string]any
		err := json.Unmarshal([]byte(got.body), &object)
		_, has := object[m[1]]
		holds = err == nil && has
	} else {
		t.Fatalf("a script that is not understood: %s", line)
	}
	if !holds {
		t.Errorf("%s: %s does not hold: %d %s", name, line, got.status, got.body)
	}
	return 1
}

// textAt returns the text at a path of an answer.
func textAt(t *testing.T, line, path, answer string) string {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(answer), &value); err != nil {
		t.Fatal(err)
	}
	for _, s := range step.FindAllStringSubmatch(path, -1) {
		if list, ok := value.([]any); ok {
			at, err := strconv.Atoi(s[2])
			if err != nil || at >= len(list) {
				t.Fatalf("%s: %s", line, answer)
			}
			value = list[at]
			continue
		}
		object, ok := value.(map[string]any)
		if !ok {
			t.Fatalf("%s: %s", line, answer)
		}
		value = object[s[1]]
	}
	text, ok := value.(string)
	if !ok || text == "" {
		t.Fatalf("%s keeps %v of %s", line, value, answer)
	}
	return text
}
