package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"regexp"
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

// other are the answers that are right and no 200: what a first run of a collection cannot have.
var other = map[string]int{
	"Take another appointment": http.StatusConflict, // no free time was offered
	"Rate a case":              http.StatusConflict, // it is not resolved yet
	// The scope credentials has to be asked for, and no first key has it.
	"Check a password of a person": http.StatusForbidden,
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
			status, answer := send(t, f.Auth, it.Request, variables)
			want := http.StatusOK
			if other[it.Name] != 0 {
				want = other[it.Name]
			}
			if status != want {
				t.Errorf("%s / %s: %d %s", group.Name, it.Name, status, answer)
				continue
			}
			for _, e := range it.Event {
				for _, line := range e.Script.Exec {
					runScript(t, line, answer, variables)
				}
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

// send sends a request of the collection, with the auth of the collection.
func send(t *testing.T, a auth, r request, variables map[string]string) (int, string) {
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
	return res.StatusCode, string(answer)
}

var (
	kept = regexp.MustCompile(`^pm\.collectionVariables\.set\("(\w+)", pm\.response\.json\(\)(\S+)\);$`)
	step = regexp.MustCompile(`\.(\w+)|\[(\d+)\]`)
)

// runScript does what Postman would do with a line of a script.
func runScript(t *testing.T, line, answer string, variables map[string]string) {
	t.Helper()
	m := kept.FindStringSubmatch(line)
	if m == nil {
		t.Fatalf("a script that is not understood: %s", line)
	}
	var value any
	if err := json.Unmarshal([]byte(answer), &value); err != nil {
		t.Fatal(err)
	}
	for _, s := range step.FindAllStringSubmatch(m[2], -1) {
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
	variables[m[1]] = text
}
