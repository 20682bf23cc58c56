package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestAssistantOverPipes: the program itself speaks to the protocol's client over its standard input and output, and
// says what is missing when it has no key.
func TestAssistantOverPipes(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "data")
	key := crashPartner(t, folder, "")
	s := newServer(t, binary(t, ""), folder, "")
	s.start(t)
	t.Cleanup(s.kill)
	cmd := exec.CommandContext(t.Context(), binary(t, ""), "mcp", "--api", "http://"+s.address)
	cmd.Env = append(os.Environ(), "VIGIA_API_KEY="+key)
	// It has to end by itself when its input does, however long a starved machine takes for that.
	pipes := &mcp.CommandTransport{Command: cmd, TerminateDuration: time.Minute}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), pipes, nil)
	if err != nil {
		t.Fatal(err)
	}
	result, err := session.CallTool(
		t.Context(),
		&mcp.CallToolParams{Name: "list_services", Arguments: map[string]any{}},
	)
	if err != nil || result.IsError {
		t.Error(result, err)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	for want, args := range map[string][]string{"--api-key": {"mcp"}, "http or https address": {"mcp", "--api", "ftp://x", "--listen", "127.0.0.1:0"}} {
		var said strings.Builder
		if code := runCommand(
			t.Context(),
			args,
			t.Output(),
			&said,
		); code != exitUsage ||
			!strings.Contains(said.String(), want) {
			t.Errorf("%v: %d %s", args, code, &said)
		}
	}
}

// someKey has the form of an API key.
var someKey = "vg_test_" + strings.Repeat("k", 43) + "1Z97SO"

// TestAssistantOverHTTP: the command serves at an address, says at which one, asks with the key of each request, and
// ends when it is told to.
func TestAssistantOverHTTP(t *testing.T) {
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, `{"services":[{"_id":"asked by %s","name":"Apoio"}]}`, r.Header.Get("x-api-key"))
	}))
	t.Cleanup(api.Close)
	ctx, stop := context.WithCancel(t.Context())
	says, saying := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- runCommand(ctx, []string{"mcp", "--listen", "127.0.0.1:0", "--api", api.URL}, t.Output(), saying)
	}()
	said, err := bufio.NewReader(says).ReadString('\n')
	_, at, found := strings.Cut(strings.TrimSpace(said), "Tools for assistants at ")
	if !found {
		t.Fatal(said, err)
	}
	go func() { _, _ = io.Copy(io.Discard, says) }()
	over := &mcp.StreamableClientTransport{
		Endpoint:             at,
		HTTPClient:           &http.Client{Transport: keyed(someKey)},
		DisableStandaloneSSE: true,
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, over, nil)
	if err != nil {
		t.Fatal(err)
	}
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "list_services"})
	if err != nil || result.IsError ||
		!strings.Contains(result.Content[0].(*mcp.TextContent).Text, "asked by "+someKey) {
		t.Error(result, err)
	}
	_ = session.Close()
	stop()
	if code := <-ended; code != exitOK {
		t.Error(code)
	}
}

// keyed adds a key to requests, as an assistant is told to.
type keyed string

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("x-api-key", string(k))
	return http.DefaultTransport.RoundTrip(r)
}
