package golang_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/app/apptest"
	"github.com/vigiahq/vigia/internal/platform/gatetest"
)

// TestInstalled is a partner: a fresh module outside of this tree that requires the client, without network, builds
// what the client's README shows, and runs it against the real service. Nothing of the service is in its graph.
func TestInstalled(t *testing.T) {
	gatetest.Needs(t, gatetest.Clients)
	module, err := filepath.Abs("../../client")
	if err != nil {
		t.Fatal(err)
	}
	own := read(t, module, "go.mod")
	root := modulePath(t, read(t, module, "../go.mod"))
	if got := modulePath(t, own); got != root+"/client" {
		t.Errorf("go get finds a module by its path: %s is not the folder client of %s", got, root)
	}
	folder := t.TempDir()
	_, needs, _ := strings.Cut(
		own,
		"\n",
	) // the version of Go and what the client requires, so that nothing is looked up
	put(
		t,
		folder,
		"go.mod",
		"module parceiro.example/app\n"+needs+"\nrequire "+root+"/client v0.0.0\n\nreplace "+root+"/client => "+module+"\n",
	)
	put(t, folder, "go.sum", read(t, module, "go.sum"))
	shown := regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindAllStringSubmatch(read(t, module, "README.md"), -1)
	if len(shown) < 5 {
		t.Fatalf("the README shows only %d programs", len(shown))
	}
	for i, program := range shown {
		room := folder
		if i > 0 && strings.Contains(program[1], "func main()") { // a program of its own
			room = filepath.Join(folder, fmt.Sprintf("program%d", i))
			if err := os.Mkdir(room, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		put(t, room, fmt.Sprintf("readme%d.go", i), program[1])
	}

	command(t, folder, nil, "go", "vet", "./...")
	command(t, folder, nil, "go", "build", "-o", "app", ".")
	listed := strings.Fields(
		command(t, folder, nil, "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "."),
	)
	slices.Sort(listed)
	want := []string{root + "/client", "golang.org/x/crypto", "golang.org/x/sys", "parceiro.example/app"}
	if got := slices.Compact(listed); !slices.Equal(got, want) {
		t.Errorf("the program is made of %v", got)
	}
	s := apptest.Start(t)
	who := []string{"VIGIA_URL=" + s.URL, "VIGIA_KEY=" + s.Sandbox.APIKey, "VIGIA_SALT=" + s.Sandbox.Salt}
	if out := command(t, folder, who, filepath.Join(folder, "app")); out != "email ana@vazamento.test comprometido\n" {
		t.Errorf("the first call printed %q", out)
	}
}

func modulePath(t *testing.T, mod string) string {
	t.Helper()
	line := regexp.MustCompile(`(?m)^module (\S+)$`).FindStringSubmatch(mod)
	if line == nil {
		t.Fatal("go.mod names no module")
	}
	return line[1]
}

func command(t *testing.T, folder string, environment []string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir = folder
	cmd.Env = append(append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=readonly", "GOWORK=off"), environment...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

func read(t *testing.T, folder, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func put(t *testing.T, folder, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
