package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// asProgram has this test program be the program itself.
const asProgram = "VIGIA_MCP_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// someKey has the form of an API key.
var someKey = "vg_test_" + strings.Repeat("k", 43) + "1Z97SO"

// newAPI is a partner API that says who asked.
func newAPI(t *testing.T) string {
	t.Helper()
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, `{"services":[{"_id":"asked by %s","name":"Apoio"}]}`, r.Header.Get("x-api-key"))
	}))
	t.Cleanup(api.Close)
	return api.URL
}

// askServices calls a tool that takes nothing, by the protocol's own client.
func askServices(t *testing.T, over sdk.Transport) {
	t.Helper()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), over, nil)
	if err != nil {
		t.Fatal(err)
	}
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "list_services", Arguments: map[string]any{}})
	if err != nil || result.IsError {
		t.Fatal(result, err)
	}
	if text := result.Content[0].(*sdk.TextContent).Text; !strings.Contains(text, "asked by "+someKey) {
		t.Error(text)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
}

// TestOverPipes: the program speaks over its standard input and output, takes its key from a file, and ends when its
// input does.
func TestOverPipes(t *testing.T) {
	file := t.TempDir() + "/key"
	if err := os.WriteFile(file, []byte(someKey+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-api", newAPI(t))
	cmd.Env = append(os.Environ(), asProgram+"=1", "VIGIA_API_KEY_FILE="+file)
	askServices(t, &sdk.CommandTransport{Command: cmd, TerminateDuration: time.Minute})
}

// TestOverHTTP: the program serves at an address, says at which one, asks with the key of each request, and ends when it
// is told to.
func TestOverHTTP(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	says, saying := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, []string{"-listen", "127.0.0.1:0", "-api", newAPI(t)}, saying) }()
	said, err := bufio.NewReader(says).ReadString('\n')
	_, at, found := strings.Cut(strings.TrimSpace(said), "Tools for assistants at ")
	if !found {
		t.Fatal(said, err)
	}
	go func() { _, _ = io.Copy(io.Discard, says) }()
	askServices(t, &sdk.StreamableClientTransport{
		Endpoint:             at,
		HTTPClient:           &http.Client{Transport: keyed(someKey)},
		DisableStandaloneSSE: true,
	})
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// keyed adds a key to requests, as an assistant is told to.
type keyed string

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("authorization", "Bearer "+string(k))
	return http.DefaultTransport.RoundTrip(r)
}

// TestRefusals: what is missing or wrong is named, before anything is served.
func TestRefusals(t *testing.T) {
	for want, args := range map[string][]string{
		"VIGIA_API_KEY":         {},
		"http or https address": {"-api", "ftp://x", "-listen", "127.0.0.1:0"},
		"not defined":           {"-key", someKey},
		"is no flag":            {someKey},
	} {
		var said strings.Builder
		if err := run(t.Context(), args, &said); !errors.Is(err, errUsage) || !strings.Contains(said.String(), want) {
			t.Errorf("%v: %v %s", args, err, &said)
		}
	}
	t.Setenv("VIGIA_API_KEY_FILE", "/does/not/exist")
	if err := run(t.Context(), nil, io.Discard); err == nil || !strings.Contains(err.Error(), "VIGIA_API_KEY_FILE") {
		t.Error(err)
	}
}
