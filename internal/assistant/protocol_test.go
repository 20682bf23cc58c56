package assistant_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/assistant"
)

// someKey has the form of an API key.
var someKey = "vg_test_" + strings.Repeat("k", 43) + "1Z97SO"

// api answers for the partner API, without a network.
type api func(*http.Request) (*http.Response, error)

func (a api) RoundTrip(r *http.Request) (*http.Response, error) { return a(r) }

func (a api) http() *http.Client { return &http.Client{Transport: a} }

// offers has one service, and nothing else.
func offers(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	if r.URL.Path == "/v1/cyber/services" {
		_, _ = w.WriteString(`{"services":[{"_id":"sv_1","name":"Apoio"}]}`)
	} else {
		w.WriteHeader(http.StatusNotFound)
	}
	return w.Result(), nil
}

// post sends a message over HTTP, with headers in pairs. An empty one is not sent.
func post(t testing.TB, a api, body string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	for i, all := 0, append([]string{"content-type", "application/json", "x-api-key", someKey}, header...); i < len(all); i += 2 {
		if r.Header.Set(all[i], all[i+1]); all[i+1] == "" {
			r.Header.Del(all[i])
		}
	}
	w := httptest.NewRecorder()
	assistant.Handler("test", "http://api.test", a.http(), quiet).ServeHTTP(w, r)
	return w
}

// run answers what stands in a text, line by line.
func run(t testing.TB, a api, in string) string {
	t.Helper()
	var out bytes.Buffer
	if err := server(t, a).Run(t.Context(), strings.NewReader(in), &out); err != nil {
		t.Error(err)
	}
	return out.String()
}

func server(t testing.TB, a api) *assistant.Server {
	t.Helper()
	ask, err := client.New(client.Config{URL: "http://api.test", Key: "k", HTTP: a.http(), Attempts: 1})
	if err != nil {
		t.Fatal(err)
	}
	return assistant.New("test", ask, quiet)
}

// oddRequests are what no client should send, and what few do. They say the status over HTTP and what the answer has;
// nothing means that there is none.
var oddRequests = []struct {
	name, body string
	status     int
	want       string
}{
	{"bad JSON", `{"jsonrpc":"2.0","id":1,`, 400, `{"jsonrpc":"2.0","error":{"code":-32700,`},
	{"more behind it", `{"jsonrpc":"2.0","id":1,"method":"ping"} {}`, 400, `{"jsonrpc":"2.0","error":{"code":-32700,`},
	{"a name twice", `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, 400, `{"jsonrpc":"2.0","error":{"code":-32700,`},
	{"an argument twice", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"show_service","arguments":{"serviceId":"a","serviceId":"b"}}}`, 400, `-32700`},
	{"bad UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}", 400, `-32700`},
	{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]`, 400, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"one object is expected; batches are not taken"}}`},
	{"no object", `"ping"`, 400, `-32600`},
	{"no version of JSON-RPC", `{"id":1,"method":"ping"}`, 400, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"jsonrpc: must be \"2.0\""}}`},
	{"no method", `{"jsonrpc":"2.0","id":1}`, 400, `"id":1,"error":{"code":-32600,"message":"method: must be a string"}`},
	{"method a number", `{"jsonrpc":"2.0","id":1,"method":5}`, 400, `"id":1,"error":{"code":-32600,"message":"method: must be a string"}`},
	{"id null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, 400, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"id: must be a string or an integer"}}`},
	{"id a fraction", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, 400, `-32600`},
	{"id an object", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, 400, `-32600`},
	{"id a boolean", `{"jsonrpc":"2.0","id":true,"method":"ping"}`, 400, `-32600`},
	{"id a string", `{"jsonrpc":"2.0","id":"a\"b","method":"ping"}`, 200, `{"jsonrpc":"2.0","id":"a\"b","result":{}}`},
	{"id beyond a float", `{"jsonrpc":"2.0","id":-9007199254740993,"method":"ping"}`, 200, `{"jsonrpc":"2.0","id":-9007199254740993,"result":{}}`},
	{"unknown method", `{"jsonrpc":"2.0","id":1,"method":"resources/list"}`, 200, `"id":1,"error":{"code":-32601,"message":"method not found: \"resources/list\""}`},
	{"another case", `{"jsonrpc":"2.0","id":1,"method":"Ping"}`, 200, `-32601`},
	{"notification as a request", `{"jsonrpc":"2.0","id":1,"method":"notifications/initialized"}`, 200, `-32601`},
	{"params a list", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}`, 400, `"id":1,"error":{"code":-32602,"message":"params: is of the wrong type"}`},
	{"name a number", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}`, 400, `"id":1,"error":{"code":-32602,"message":"params/name: is of the wrong type"}`},
	{"no params", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, 200, `"error":{"code":-32602,"message":"params/name: there is no tool \"\""}`},
	{"unknown tool", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"drop"}}`, 200, `"error":{"code":-32602,"message":"params/name: there is no tool \"drop\""}`},
	{"a page that was not given out", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}`, 200, `"code":-32602,"message":"params/cursor: `},
	{"initialize without a version", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`, 200, `"code":-32602,"message":"params/protocolVersion: is missing"`},
	{"initialize with an old version", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05"}}`, 200, `"protocolVersion":"2024-11-05"`},
	{"initialize with an unknown version", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"1999-01-01"}}`, 200, `"protocolVersion":"2025-11-25"`},
	{"initialize with a version that has none", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2026-07-28"}}`, 200, `"protocolVersion":"2025-11-25"`},
	{"discover by old rules", `{"jsonrpc":"2.0","id":1,"method":"server/discover"}`, 200, `-32601`},
	{"a version from tomorrow", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta("2099-01-01") + `}}`, 400, `"id":1,"error":{"code":-32022,"message":"unsupported protocol version","data":{"requested":"2099-01-01","supported":["2026-07-28",`},
	{"no arguments", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_services"}}`, 200, `"structuredContent":{"services":[{`},
	{"arguments null", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_services","arguments":null}}`, 200, `"structuredContent":{"services":[{`},
	{"arguments a list", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_services","arguments":[]}}`, 200, refusal("arguments: must be an object")},
	{"unknown argument", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_services","arguments":{"userhash":"x"}}}`, 200, refusal(`arguments: \"userhash\" is not taken`)},
	{"missing argument", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"show_case","arguments":{"userHash":"x"}}}`, 200, refusal("arguments: caseId is missing")},
	{"argument null", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"show_service","arguments":{"serviceId":null}}}`, 200, refusal("arguments: serviceId must be of type string")},
	{"argument a number", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"show_service","arguments":{"serviceId":1}}}`, 200, refusal("arguments: serviceId must be of type string")},
	{"page a string", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_breaches","arguments":{"page":"1"}}}`, 200, refusal("arguments: page must be of type integer")},
	{"page a fraction", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_breaches","arguments":{"page":1.5}}}`, 200, refusal("arguments: page must be of type integer")},
	{"page too large", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_breaches","arguments":{"page":1e300}}}`, 200, refusal("arguments: page must be of type integer")},
	{"page with a point", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_breaches","arguments":{"page":1.0}}}`, 200, `"text":"404: `},
	{"a notification", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, 202, ""},
	{"an unknown notification", `{"jsonrpc":"2.0","method":"notifications/never_heard_of","params":{}}`, 202, ""},
	{"a bad notification", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":[7]}`, 202, ""},
	{"nothing to cancel", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x"}}`, 202, ""},
	{"a request without id", `{"jsonrpc":"2.0","method":"tools/list"}`, 202, ""},
	{"an answer", `{"jsonrpc":"2.0","id":1,"result":{}}`, 202, ""},
}

// refusal of a tool, which an assistant can read and mend.
func refusal(text string) string {
	return `"result":{"content":[{"text":"` + text + `","type":"text"}],"isError":true}`
}

// TestAssistantOddRequests: each is answered as JSON-RPC and the protocol want it, the same over HTTP and over standard
// input and output, and what comes after it is answered too.
func TestAssistantOddRequests(t *testing.T) {
	for _, c := range oddRequests {
		w := post(t, offers, c.body)
		if got := w.Body.String(); w.Code != c.status || !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%s: %d %s", c.name, w.Code, got)
		}
		if w.Body.Len() > 0 && w.Header().Get("content-type") != "application/json" {
			t.Errorf("%s: %s", c.name, w.Header())
		}
		// Ended by a line that has to be answered alike; which comes first is open.
		const next, pong = `{"jsonrpc":"2.0","id":"next","method":"ping"}`, `{"jsonrpc":"2.0","id":"next","result":{}}` + "\n"
		lines := run(t, offers, "\r\n"+c.body+"\r\n\n"+next)
		if before, after, found := strings.Cut(lines, pong); !found || before+after != w.Body.String() {
			t.Errorf("%s: over HTTP\n%s, over lines\n%s", c.name, w.Body, lines)
		}
	}
}

// meta is what a request says of itself from 2026-07-28 on.
func meta(version string) string {
	return `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + version + `","io.modelcontextprotocol/clientCapabilities":{}}`
}

// TestAssistantHeaders: what a request has to say over HTTP besides its body.
func TestAssistantHeaders(t *testing.T) {
	const ping, version, method, name = `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "mcp-protocol-version", "mcp-method", "mcp-name"
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta("2026-07-28") + `}}`
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_services",` + meta("2026-07-28") + `}}`
	for what, c := range map[string]struct {
		body   string
		header []string
		status int
		want   string
	}{
		"no key":                    {ping, []string{"x-api-key", ""}, 401, "API key"},
		"a key with a space":        {ping, []string{"x-api-key", "a b"}, 401, "API key"},
		"a key of another form":     {ping, []string{"x-api-key", "vg_test_abc"}, 401, "API key"},
		"a key with a typo":         {ping, []string{"x-api-key", someKey[:len(someKey)-1] + "0"}, 401, "API key"},
		"initialize with no key":    {`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`, []string{"x-api-key", "x"}, 401, "API key"},
		"a bearer's key":            {ping, []string{"x-api-key", "", "authorization", "Bearer " + someKey}, 200, `"result":{}`},
		"text":                      {ping, []string{"content-type", "text/plain"}, 415, "content-type"},
		"no type":                   {ping, []string{"content-type", ""}, 415, "content-type"},
		"a charset":                 {ping, []string{"content-type", "application/json; charset=utf-8"}, 200, `"result":{}`},
		"wants HTML":                {ping, []string{"accept", "text/html, text/event-stream"}, 406, "accept"},
		"wants JSON":                {ping, []string{"accept", "text/event-stream, Application/JSON;q=0.5"}, 200, `"result":{}`},
		"wants anything":            {ping, []string{"accept", "*/*"}, 200, `"result":{}`},
		"a huge body":               {strings.Repeat(" ", 64<<10) + ping, nil, 413, "64 KiB"},
		"the largest body":          {strings.Repeat(" ", 64<<10-len(ping)) + ping, nil, 200, `"result":{}`},
		"an old version":            {ping, []string{version, "2025-06-18"}, 200, `"result":{}`},
		"an unknown version":        {ping, []string{version, "1999-01-01"}, 400, `"id":1,"error":{"code":-32022`},
		"unknown in a notification": {`{"jsonrpc":"2.0","method":"x"}`, []string{version, "1999-01-01"}, 400, `-32022`},
		"a version from tomorrow":   {strings.ReplaceAll(list, "2026-07-28", "2099-01-01"), []string{version, "2099-01-01", method, "tools/list"}, 400, `"requested":"2099-01-01","supported":["2026-07-28",`},
		"new, as it should be":      {list, []string{version, "2026-07-28", method, "tools/list"}, 200, `"resultType":"complete"`},
		"new, without the header":   {list, nil, 400, `"id":1,"error":{"code":-32020`},
		"new, with an old header":   {list, []string{version, "2025-11-25", method, "tools/list"}, 400, `-32020`},
		"new, says no version":      {ping, []string{version, "2026-07-28", method, "ping"}, 400, `"code":-32602,"message":"params/_meta: io.modelcontextprotocol/protocolVersion is missing"`},
		"new, a version in digits":  {`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":2026}}}`, []string{version, "2026-07-28", method, "tools/list"}, 400, `-32602`},
		"new, no capabilities":      {`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, []string{version, "2026-07-28", method, "tools/list"}, 400, `-32602`},
		"new, no method":            {list, []string{version, "2026-07-28"}, 400, `"code":-32020,"message":"mcp-method`},
		"new, another method":       {list, []string{version, "2026-07-28", method, "tools/call"}, 400, `"code":-32020,"message":"mcp-method`},
		"new, no name":              {call, []string{version, "2026-07-28", method, "tools/call"}, 400, `"code":-32020,"message":"mcp-name`},
		"new, another name":         {call, []string{version, "2026-07-28", method, "tools/call", name, "list_cases"}, 400, `"code":-32020,"message":"mcp-name`},
		"new, a name":               {call, []string{version, "2026-07-28", method, "tools/call", name, "list_services"}, 200, `"structuredContent":{"services"`},
		"new, a packed name":        {call, []string{version, "2026-07-28", method, "tools/call", name, "=?base64?bGlzdF9zZXJ2aWNlcw==?="}, 200, `"structuredContent":{"services"`},
		"new, a notification":       {`{"jsonrpc":"2.0","method":"notifications/cancelled"}`, []string{version, "2026-07-28"}, 202, ""},
		"new, an unknown method":    {strings.ReplaceAll(list, "tools/list", "prompts/list"), []string{version, "2026-07-28", method, "prompts/list"}, 404, `"id":1,"error":{"code":-32601`},
		"new, a method that went":   {strings.ReplaceAll(list, "tools/list", "ping"), []string{version, "2026-07-28", method, "ping"}, 404, `-32601`},
		"new, initialize":           {strings.ReplaceAll(list, "tools/list", "initialize"), []string{version, "2026-07-28", method, "initialize"}, 404, `-32601`},
	} {
		if w := post(t, offers, c.body, c.header...); w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s: %d %s", what, w.Code, w.Body)
		}
	}
	for _, method := range []string{http.MethodGet, http.MethodDelete, http.MethodPut} {
		r := httptest.NewRequest(method, "/", nil)
		r.Header.Set("x-api-key", someKey)
		r.Header.Set("sec-fetch-site", "same-origin")
		w := httptest.NewRecorder()
		if assistant.Handler("test", "http://api.test", nil, quiet).ServeHTTP(w, r); w.Code != http.StatusMethodNotAllowed || w.Header().Get("allow") != http.MethodPost {
			t.Errorf("%s: %d %s", method, w.Code, w.Header())
		}
	}
}

// TestAssistantKnowsItsName: at an address of this machine alone it is asked by a name of this machine alone, so that a
// page whose name was pointed here cannot ask it.
func TestAssistantKnowsItsName(t *testing.T) {
	for host, c := range map[string]struct {
		at   net.IP
		want int
	}{
		"127.0.0.1:8090": {net.IPv4(127, 0, 0, 1), 200}, "localhost": {net.IPv4(127, 0, 0, 1), 200}, "[::1]:8090": {net.IPv6loopback, 200},
		"mal.exemplo": {net.IPv4(127, 0, 0, 1), 403}, "mal.exemplo:8090": {net.IPv6loopback, 403}, "10.0.0.1": {net.IPv6loopback, 403},
		"vigia.exemplo.com.br": {net.IPv4(10, 0, 0, 1), 200},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{IP: c.at, Port: 8090})))
		r.Host = host
		r.Header.Set("x-api-key", someKey)
		r.Header.Set("content-type", "application/json")
		w := httptest.NewRecorder()
		if assistant.Handler("test", "http://api.test", nil, quiet).ServeHTTP(w, r); w.Code != c.want {
			t.Errorf("%s at %s: %d %s", host, c.at, w.Code, w.Body)
		}
	}
}

// TestAssistantSpeaksEveryVersion: the versions are those of the protocol's own client, and it can list and call with
// each of them.
func TestAssistantSpeaksEveryVersion(t *testing.T) {
	known, err := json.Marshal(mcp.SupportedProtocolVersions())
	if err != nil {
		t.Fatal(err)
	}
	if told := run(t, offers, `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{`+meta("2026-07-28")+`}}`); !strings.Contains(told, `"supportedVersions":`+string(known)) {
		t.Errorf("%s are known, told is %s", known, told)
	}
	over := httptest.NewServer(assistant.Handler("test", "http://api.test", api(offers).http(), quiet))
	t.Cleanup(over.Close)
	for _, version := range mcp.SupportedProtocolVersions() {
		for name, transport := range map[string]mcp.Transport{
			"lines": piped(t, server(t, offers)),
			"HTTP":  &mcp.StreamableClientTransport{Endpoint: over.URL, HTTPClient: &http.Client{Transport: keyed(someKey)}, DisableStandaloneSSE: true},
		} {
			s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(version, name, err)
			}
			t.Cleanup(func() { _ = s.Close() })
			about := s.InitializeResult()
			if about.ProtocolVersion != version || about.ServerInfo.Name != "vigia" || about.ServerInfo.Version != "test" || !strings.Contains(about.Instructions, "untrusted") || about.Capabilities.Tools == nil {
				t.Errorf("%s, %s: %+v", version, name, about)
			}
			if listed, err := s.ListTools(t.Context(), nil); err != nil || len(listed.Tools) != 14 {
				t.Errorf("%s, %s: %+v, %v", version, name, listed, err)
			}
			if text, refused := call(t, s, "list_services", nil); refused || !strings.Contains(text, "sv_1") {
				t.Errorf("%s, %s: %s", version, name, text)
			}
			if _, err := s.ListPrompts(t.Context(), nil); err == nil {
				t.Errorf("%s, %s: there are prompts", version, name)
			}
		}
	}
}

// TestAssistantToolsAreDescribed: each tool says what it takes, by a schema that refuses everything else, and what it
// does to the world.
func TestAssistantToolsAreDescribed(t *testing.T) {
	var told struct {
		Result struct {
			Tools []struct {
				Name        string
				InputSchema struct {
					Type                 string
					Properties           map[string]struct{ Type, Description string }
					Required             []string
					AdditionalProperties *bool
				}
				Annotations map[string]bool
			}
		}
	}
	if err := json.Unmarshal([]byte(run(t, offers, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)), &told); err != nil {
		t.Fatal(err)
	}
	takes := map[string]string{}
	for _, tool := range told.Result.Tools {
		in := tool.InputSchema
		if in.Type != "object" || in.AdditionalProperties == nil || *in.AdditionalProperties || in.Required == nil {
			t.Errorf("%s: %+v", tool.Name, in)
		}
		if want := map[string]bool{"readOnlyHint": true, "idempotentHint": true, "openWorldHint": false}; fmt.Sprint(tool.Annotations) != fmt.Sprint(want) {
			t.Errorf("%s: %v", tool.Name, tool.Annotations)
		}
		takes[tool.Name] = fmt.Sprint(in.Required)
		for name, p := range in.Properties {
			if p.Description == "" {
				t.Errorf("%s: %s is not described", tool.Name, name)
			}
			if want := map[bool]string{true: "integer", false: "string"}[name == "page"]; p.Type != want {
				t.Errorf("%s: %s is of type %s", tool.Name, name, p.Type)
			}
		}
	}
	for name, want := range map[string]string{"list_services": "[]", "show_plan": "[userHash findingId]", "list_events": "[]", "list_breaches": "[]", "show_service": "[serviceId]"} {
		if takes[name] != want {
			t.Errorf("%s needs %s, expected %s", name, takes[name], want)
		}
	}
}

// lines speaks over pipes by hand.
type lines struct {
	t    *testing.T
	in   *io.PipeWriter
	out  *json.Decoder
	stop context.CancelFunc
	done chan error
}

func speak(t *testing.T, s *assistant.Server) *lines {
	t.Helper()
	asked, asking := io.Pipe()
	answers, answering := io.Pipe()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	l := &lines{t, asking, json.NewDecoder(answers), stop, make(chan error, 1)}
	go func() { l.done <- s.Run(ctx, asked, answering) }()
	t.Cleanup(func() {
		stop()
		_ = asking.Close()
		_ = answers.Close()
	})
	return l
}

func (l *lines) say(text string) {
	l.t.Helper()
	if _, err := io.WriteString(l.in, text+"\n"); err != nil {
		l.t.Fatal(err)
	}
}

// hear returns the id of the next answer.
func (l *lines) hear() int {
	l.t.Helper()
	var a struct{ ID int }
	if err := l.out.Decode(&a); err != nil {
		l.t.Fatal(err)
	}
	return a.ID
}

func callOf(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"list_services"}}`, id)
}

// stuck speaks to a server whose first call, of id 1, is under way and ends only when it is given up.
func stuck(t *testing.T) (l *lines, ended chan struct{}) {
	t.Helper()
	reached := make(chan struct{})
	ended = make(chan struct{})
	l = speak(t, server(t, func(r *http.Request) (*http.Response, error) {
		close(reached)
		<-r.Context().Done()
		close(ended)
		return nil, r.Context().Err()
	}))
	l.say(callOf(1))
	<-reached
	return l, ended
}

// TestAssistantCancels: a slow call holds up no other. Cancelled, it ends where it is, and nothing more is said of it.
func TestAssistantCancels(t *testing.T) {
	l, ended := stuck(t)
	l.say(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	if id := l.hear(); id != 2 {
		t.Error("answered is", id)
	}
	l.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"requestId":1}}`)
	l.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
	select {
	case <-ended:
		t.Error("ended by what does not cancel it")
	case <-time.After(50 * time.Millisecond):
	}
	l.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"changed my mind"}}`)
	<-ended
	for id := 3; id < 6; id++ {
		l.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, id))
		if heard := l.hear(); heard != id {
			t.Error("answered is", heard)
		}
	}
	_ = l.in.Close()
	if err := <-l.done; err != nil {
		t.Error(err)
	}
}

// TestAssistantEndsWithItsContext: whatever it waits for, the end of its context ends it, and what it had asked.
func TestAssistantEndsWithItsContext(t *testing.T) {
	l, ended := stuck(t)
	l.stop()
	if err := <-l.done; err != nil {
		t.Error(err)
	}
	<-ended
}

// TestAssistantFollowsWhoHangsUp: over HTTP the end of a request ends what was asked for it.
func TestAssistantFollowsWhoHangsUp(t *testing.T) {
	ctx, hangUp := context.WithCancel(t.Context())
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(callOf(1))).WithContext(ctx)
	r.Header.Set("x-api-key", someKey)
	r.Header.Set("content-type", "application/json")
	waits := api(func(r *http.Request) (*http.Response, error) {
		hangUp()
		<-r.Context().Done()
		return nil, r.Context().Err()
	})
	assistant.Handler("test", "http://api.test", waits.http(), quiet).ServeHTTP(httptest.NewRecorder(), r)
}

// TestAssistantBoundsCalls: of many calls at once some wait, and all are answered, also when the input has ended.
func TestAssistantBoundsCalls(t *testing.T) {
	const calls, most = 50, 16
	var (
		counting  sync.Mutex
		now, peak int
	)
	count := func(n int) {
		counting.Lock()
		defer counting.Unlock()
		now += n
		peak = max(peak, now)
	}
	out := run(t, func(r *http.Request) (*http.Response, error) {
		count(1)
		defer count(-1)
		time.Sleep(5 * time.Millisecond)
		return offers(r)
	}, strings.Repeat(callOf(1)+"\n", calls))
	if strings.Count(out, `"structuredContent"`) != calls || strings.Count(out, "\n") != calls || peak > most || peak < 2 {
		t.Errorf("%d answers, %d at once", strings.Count(out, "\n"), peak)
	}
}

// TestAssistantSkipsHugeLines: a line that is too long is refused without being kept, and the next one is answered.
func TestAssistantSkipsHugeLines(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for size, want := range map[int]string{64<<10 - len(ping) - 1: `"result":{}`, 64<<10 - len(ping): `-32700`, 1 << 20: `-32700`} {
		out := run(t, offers, ping+strings.Repeat(" ", size)+"\n")
		if strings.Count(out, "\n") != 1 || !strings.Contains(out, want) {
			t.Errorf("%d: %s", size, out)
		}
		if out := run(t, offers, strings.Repeat("x", size)+"\n"+ping); strings.Count(out, "\n") != 2 || !strings.Contains(out, `"result":{}`) {
			t.Errorf("%d: %s", size, out)
		}
	}
}

// TestAssistantSurvivesPanics: a tool that panics ends its call and nothing else. Where is logged, but not with what.
func TestAssistantSurvivesPanics(t *testing.T) {
	panics := func(*http.Request) (*http.Response, error) { panic("as asked") }
	const want = `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"internal error"}}` + "\n"
	if out := run(t, panics, callOf(1)+"\n"+callOf(1)); out != want+want {
		t.Error(out)
	}
	if w := post(t, panics, callOf(1)); w.Code != http.StatusOK || w.Body.String() != want {
		t.Error(w.Code, w.Body)
	}
	ask, err := client.New(client.Config{URL: "http://api.test", Key: "k", HTTP: api(panics).http()})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	if err := assistant.New("test", ask, slog.New(slog.NewTextHandler(&log, nil))).Run(t.Context(), strings.NewReader(callOf(1)), io.Discard); err != nil {
		t.Error(err)
	}
	if !strings.Contains(log.String(), "protocol_test.go") || !strings.Contains(log.String(), "tool=list_services") || strings.Contains(log.String(), "as asked") {
		t.Error(&log)
	}
}

// FuzzMessage: whatever is sent, the answer is one message of JSON-RPC with the id of the request, or there is none.
func FuzzMessage(f *testing.F) {
	for _, c := range oddRequests {
		f.Add(c.body)
	}
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta("2026-07-28") + `}}`)
	f.Fuzz(func(t *testing.T, body string) {
		w := post(t, offers, body)
		if w.Code == http.StatusAccepted || w.Code == http.StatusRequestEntityTooLarge {
			return
		}
		var a struct {
			JSONRPC       string
			ID            json.RawMessage
			Result, Error map[string]any
		}
		if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || a.JSONRPC != "2.0" || (a.Result == nil) == (a.Error == nil) {
			t.Fatalf("%d %s, %v", w.Code, w.Body, err)
		}
		if w.Code == http.StatusOK {
			var asked map[string]json.RawMessage
			if err := json.Unmarshal([]byte(body), &asked); err != nil || !sameJSON(asked["id"], a.ID) {
				t.Fatalf("%s is answered with %s, %v", body, w.Body, err)
			}
		}
	})
}

// sameJSON tells whether two values say the same; escapes may be written differently.
func sameJSON(a, b json.RawMessage) bool {
	var one, other any
	return json.Unmarshal(a, &one) == nil && json.Unmarshal(b, &other) == nil && one == other && one != nil
}
