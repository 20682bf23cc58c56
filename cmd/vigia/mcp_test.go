package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestAssistantOverPipes: the program itself speaks to the protocol's client over its standard input and output, and says
// what is missing when it has no key.
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
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "list_services", Arguments: map[string]any{}})
	if err != nil || result.IsError {
		t.Error(result, err)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	for _, args := range [][]string{{"mcp"}, {"mcp", "--api", "ftp://x", "--listen", "127.0.0.1:0"}} {
		if code := run(t.Context(), args, t.Output(), t.Output()); code != exitUsage {
			t.Errorf("%v: %d", args, code)
		}
	}
}
