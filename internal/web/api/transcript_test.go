package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// A transcript is an exchange a person can read, one file per path segment in testdata:
//
//	# words for the reader
//	> POST /v1/cyber/epp sandbox idempotency-key=k1      the partner (live, sandbox, other or none), then headers
//	| {"userHash": "{ana}"}                              the body, on one or more lines
//	< 200 {"eppKey":"{...}"} x-truncated=true            the answer; recorded with -update
//	= device /protectedDevices/0/eppKey                  takes a value of the last answer, used as {device} from here on
//	! advance 25h                                        moves the clock
//	! plan protecao                                      registers a plan for the live partner
//	! operator ...                                       something else that an operator does: see operator_test.go
//
// Every exchange is also held against openapi.yaml. A file runs on both engines and must read the same.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts found", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			eachEngine(t, func(t *testing.T, s *service) { runTranscript(t, s, file) })
		})
	}
}

type transcript struct {
	s    *service
	vars map[string]string
	last answered
}

func runTranscript(t *testing.T, s *service, file string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	tr := &transcript{s: s, vars: map[string]string{
		"ana": hashOf("ana"), "bia": hashOf("bia"), "caio": hashOf("caio"), "davi": hashOf("davi"),
		"live_id": string(s.Live.ID), "sandbox_id": string(s.Sandbox.ID),
	}}
	lines := strings.Split(strings.TrimRight(string(raw), "\n"), "\n")
	out := make([]string, 0, len(lines))
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		out = append(out, line)
		switch {
		case strings.HasPrefix(line, "> "):
			var body []string
			for i+1 < len(lines) && strings.HasPrefix(lines[i+1], "| ") {
				i++
				body = append(body, lines[i][2:])
				out = append(out, lines[i])
			}
			want := ""
			if i+1 < len(lines) && strings.HasPrefix(lines[i+1], "< ") {
				i++
				want = lines[i]
			}
			got := tr.exchange(t, line[2:], strings.Join(body, "\n"), i)
			out = append(out, got)
			if got != want && !*update {
				t.Errorf("%s:%d\n%s\n got %s\nwant %s", file, i+1, line, got, want)
			}
		case strings.HasPrefix(line, "= "):
			tr.take(t, strings.Fields(line[2:]))
		case strings.HasPrefix(line, "! operator "):
			tr.operator(t, strings.TrimPrefix(line, "! operator "))
		case strings.HasPrefix(line, "! plan "):
			s.plan(t, s.Live, strings.TrimPrefix(line, "! plan "))
		case strings.HasPrefix(line, "! advance "):
			d, err := time.ParseDuration(strings.TrimPrefix(line, "! advance "))
			if err != nil {
				t.Fatal(err)
			}
			s.Clock.Advance(d)
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(out, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// exchange sends one request and returns the line that describes its answer.
func (tr *transcript) exchange(t *testing.T, line, body string, number int) string {
	t.Helper()
	fields := strings.Fields(line)
	if len(fields) < 3 {
		t.Fatalf("line %d: expected METHOD PATH PARTNER [HEADER=VALUE]", number)
	}
	c := call{method: fields[0], path: tr.fill(fields[1]), body: tr.fill(body), header: http.Header{}}
	switch fields[2] {
	case "live":
		c.header.Set("x-api-key", tr.s.Live.APIKey)
	case "sandbox":
		c.header.Set("x-api-key", tr.s.Sandbox.APIKey)
	case "other":
		c.header.Set("x-api-key", tr.s.Other.APIKey)
	case "none":
	default:
		t.Fatalf("line %d: partner is one of live, sandbox, other, none", number)
	}
	for _, h := range fields[3:] {
		if h == "unchecked" {
			c.unchecked = true
			continue
		}
		name, value, _ := strings.Cut(h, "=")
		c.header.Set(name, tr.fill(value))
	}
	tr.last = tr.s.do(t, c)
	got := fmt.Sprintf("< %d %s", tr.last.status, tr.hide(tr.last.body))
	for _, name := range []string{"x-error-detail", "allow", "retry-after", "idempotency-replayed", "x-truncated", "x-corpus", notCreatedHeader} {
		if v := tr.last.header.Get(name); v != "" {
			got += " " + name + "=" + tr.hide(v)
		}
	}
	return got
}

func (tr *transcript) fill(s string) string {
	for name, value := range tr.vars {
		s = strings.ReplaceAll(s, "{"+name+"}", value)
	}
	return s
}

var (
	randomID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	cursor   = regexp.MustCompile(`"next":"[A-Za-z0-9_-]{22}"`)
	eppKey   = regexp.MustCompile(`\b([0-9A-Z]{5}-){4}[0-9A-Z]{5}\b`)
)

// hide replaces what differs from run to run: taken values by their names, other random ids by a mark.
func (tr *transcript) hide(s string) string {
	names := make([]string, 0, len(tr.vars))
	for name := range tr.vars {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool { return len(tr.vars[names[i]]) > len(tr.vars[names[j]]) })
	for _, name := range names {
		s = strings.ReplaceAll(s, tr.vars[name], "{"+name+"}")
	}
	s = cursor.ReplaceAllString(s, `"next":"{cursor}"`)
	return eppKey.ReplaceAllString(randomID.ReplaceAllString(s, "{id}"), "{key}")
}

// take reads a value of the last answer by JSON pointer.
func (tr *transcript) take(t *testing.T, args []string) {
	t.Helper()
	if len(args) != 2 {
		t.Fatalf("expected = NAME POINTER, got %v", args)
	}
	var v any
	if err := json.Unmarshal([]byte(tr.last.body), &v); err != nil {
		t.Fatal(err)
	}
	for token := range jsontext.Pointer(args[1]).Tokens() {
		switch x := v.(type) {
		case map[string]any:
			v = x[token]
		case []any:
			var i int
			if _, err := fmt.Sscan(token, &i); err != nil || i >= len(x) {
				t.Fatalf("%s: no such element", args[1])
			}
			v = x[i]
		}
	}
	text, ok := v.(string)
	if !ok || text == "" {
		t.Fatalf("%s is no text in %s", args[1], tr.last.body)
	}
	tr.vars[args[0]] = text
}
