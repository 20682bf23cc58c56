// Package clients_test runs the clients of other languages against the real service, installed as a partner installs
// them: packed, into an empty project, without network. It needs node, python3 with pip, and what scripts/npm-install
// brings; `make gate` sees to them.
package clients_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/app/apptest"
	"github.com/vigiahq/vigia/internal/platform/gatetest"
)

// run starts a program in a folder and returns what it printed.
func run(t *testing.T, folder string, environment []string, args ...string) string {
	t.Helper()
	gatetest.Needs(t, gatetest.Clients)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), environment...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

// made are what builds write into the clients' folders, and what they are built with.
var made = map[string]bool{"node_modules": true, "dist": true, "made": true, "__pycache__": true}

// lookAt has this process look at the files of a client, which other programs read: `go test` answers from its cache as
// long as what the test itself looked at is the same.
func lookAt(t *testing.T, folder string) {
	t.Helper()
	if _, err := os.Stat("../internal/web/api/openapi.yaml"); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case made[entry.Name()] && entry.IsDir():
			return filepath.SkipDir
		case made[entry.Name()]:
			return nil
		}
		_, err = os.Stat(name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// script runs one of a client's scripts as `npm run` does, without npm, which takes longer to start than some of them
// to run.
func script(t *testing.T, folder string, environment []string, name string) {
	t.Helper()
	installed(t, folder)
	text, err := os.ReadFile(filepath.Join(folder, "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	var p struct{ Scripts map[string]string }
	if err := json.Unmarshal(text, &p); err != nil || p.Scripts[name] == "" {
		t.Fatalf("%s/package.json has no script %s: %v", folder, name, err)
	}
	path := "PATH=" + absolute(t, filepath.Join(folder, "node_modules", ".bin")) + ":" + os.Getenv("PATH")
	run(t, folder, append([]string{path}, environment...), "sh", "-c", p.Scripts[name])
}

func installed(t *testing.T, folder string) {
	t.Helper()
	gatetest.Needs(t, gatetest.Clients)
	if _, err := os.Stat(filepath.Join(folder, "node_modules")); err != nil {
		t.Fatalf("%s/node_modules is missing: run scripts/npm-install", folder)
	}
}

// environment tells a client where the service is and who it is there.
func environment(t *testing.T, s *apptest.Service) []string {
	t.Helper()
	return []string{
		"VIGIA_URL=" + s.URL,
		"VIGIA_KEY=" + s.WideKey(t, s.Sandbox),
		"VIGIA_SALT=" + s.Sandbox.Salt,
		"VIGIA_LIVE_KEY=" + s.Live.APIKey,
	}
}

// TestGeneratedClient: a client that a third party's generator makes of the document works, and its validators let
// every answer pass. What is generated is never committed.
func TestGeneratedClient(t *testing.T) {
	t.Parallel()
	lookAt(t, "generated")
	script(t, "generated", nil, "generate")
	build := "strip" // to judge the types that zod infers takes longer than all the rest
	if os.Getenv("VIGIA_TEST_LONG") != "" {
		build = "build"
	}
	script(t, "generated", nil, build)
	script(t, "generated", environment(t, apptest.Start(t)), "test")
}

// TestOtherGenerators: what integrators make of the document by other generators compiles, and what it says of it is
// right: members that must be there are no pointers and no options.
func TestOtherGenerators(t *testing.T) {
	t.Parallel()
	lookAt(t, "generated")
	t.Run("openapi-typescript and orval", func(t *testing.T) {
		t.Parallel()
		script(t, "generated", nil, "others")
	})
	t.Run("oapi-codegen", func(t *testing.T) {
		t.Parallel()
		const folder = "generated/golang"
		if err := os.MkdirAll(filepath.Join(folder, "made"), 0o700); err != nil {
			t.Fatal(err)
		}
		alone := []string{"GOWORK=off"} // a module of its own, which nothing of ours requires
		contract := absolute(t, "../internal/web/api/openapi.yaml")
		run(t, folder, alone, "go", "tool", "oapi-codegen", "-config", "oapi-codegen.yaml", contract)
		run(t, folder, alone, "go", "build", "./...")
	})
}

// TestLicencesGoAlong: whoever installs a client gets the licence with it, the same as ours.
func TestLicencesGoAlong(t *testing.T) {
	ours, err := os.ReadFile("../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"../client", "typescript", "python"} {
		if copied, err := os.ReadFile(filepath.Join(folder, "LICENSE")); err != nil || string(copied) != string(ours) {
			t.Errorf("%s/LICENSE is not the licence of this tree: %v", folder, err)
		}
	}
}
