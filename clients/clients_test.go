// Package clients_test runs the clients of other languages against the real service. It needs node, and what
// scripts/npm-install brings; `make test` sees to both.
package clients_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/app/apptest"
)

// npm runs a script of the client in a folder.
func npm(t *testing.T, folder string, environment []string, args ...string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(folder, "node_modules")); err != nil {
		t.Fatalf("%s/node_modules is missing: run scripts/npm-install", folder)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", append([]string{"run", "--silent"}, args...)...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), environment...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm run %v: %v\n%s", args, err, out)
	}
}

// environment tells a client where the service is and who it is there.
func environment(s *apptest.Service) []string {
	return []string{"VIGIA_URL=" + s.URL, "VIGIA_KEY=" + s.Sandbox.APIKey, "VIGIA_SALT=" + s.Sandbox.Salt}
}

func TestTypeScript(t *testing.T) {
	npm(t, "typescript", nil, "build")
	npm(t, "typescript", environment(apptest.Start(t)), "test")
}

// TestGeneratedClient: a client that a third party's generator makes of the document works, and its validators let
// every answer pass. What is generated is never committed.
//
//vigia:row C3
//vigia:bar every operation, at both spellings of its path, through a client that @hey-api/openapi-ts makes of the
//vigia:bar document; zod checks requests and answers
//vigia:seen 2026-11-15 20 operations
//vigia:tier C
//vigia:broken a document that calls `exposed` a text
func TestGeneratedClient(t *testing.T) {
	npm(t, "generated", nil, "generate")
	npm(t, "generated", nil, "build")
	npm(t, "generated", environment(apptest.Start(t)), "test")
}
