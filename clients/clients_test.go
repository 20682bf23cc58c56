// Package clients_test runs the clients of other languages against the real service. It needs node, and what
// scripts/npm-install brings; `make test` sees to both.
package clients_test

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/app/apptest"
)

// npm runs a script of the TypeScript client.
func npm(t *testing.T, environment []string, args ...string) {
	t.Helper()
	if _, err := os.Stat("typescript/node_modules"); err != nil {
		t.Fatal("typescript/node_modules is missing: run scripts/npm-install")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", append([]string{"run", "--silent"}, args...)...)
	cmd.Dir = "typescript"
	cmd.Env = append(os.Environ(), environment...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm run %v: %v\n%s", args, err, out)
	}
}

func TestTypeScript(t *testing.T) {
	npm(t, nil, "fresh") // src/schema.ts is what the contract says
	npm(t, nil, "build")
	s := apptest.Start(t)
	npm(t, []string{"VIGIA_URL=" + s.URL, "VIGIA_KEY=" + s.Sandbox.APIKey, "VIGIA_SALT=" + s.Sandbox.Salt}, "test")
}
