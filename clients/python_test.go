package clients_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/app/apptest"
	"github.com/vigiahq/vigia/internal/platform/gatetest"
	"github.com/vigiahq/vigia/internal/web/api/reference"
)

// TestPython builds the package, installs it into an empty environment without network, and runs its tests there: those
// of the client alone, and a story that calls every operation of a real server.
func TestPython(t *testing.T) {
	gatetest.Needs(t, gatetest.Clients)
	t.Parallel()
	lookAt(t, "python")
	s := apptest.Start(t)
	folder := t.TempDir()
	const build = "import sys; sys.dont_write_bytecode = True; import build_backend; build_backend.build_sdist(sys.argv[1])"
	run(t, "python", nil, "python3", "-c", build, folder)
	packed := filepath.Join(folder, "vigia_client-1.0.0.tar.gz")
	sameFiles(t, "sdist", unpacked(t, packed), []string{
		"LICENSE",
		"PKG-INFO",
		"README.md",
		"build_backend.py",
		"pyproject.toml",
		"src/vigia_client/__init__.py",
		"src/vigia_client/client.py",
		"src/vigia_client/codes.py",
		"src/vigia_client/errors.py",
		"src/vigia_client/operations.py",
		"src/vigia_client/person.py",
		"src/vigia_client/py.typed",
		"src/vigia_client/schemas.py",
		"src/vigia_client/send.py",
		"src/vigia_client/webhook.py",
	})
	who := append(
		environment(t, s),
		"PYTHONDONTWRITEBYTECODE=1",
		"PYTHONPATH=",
		"LC_ALL=C.UTF-8",
		"PIP_DISABLE_PIP_VERSION_CHECK=1",
		"VIGIA_OPERATIONS="+strings.Join(
			operationsOf(t),
			",",
		),
		"VIGIA_VECTORS="+absolute(t, "../client/testdata/vectors.json"),
		"VIGIA_README="+absolute(t, "python/README.md"),
	)
	// The environment has no pip of its own, which would take longer to make than all the rest.
	run(t, ".", who, "python3", "-m", "venv", "--without-pip", filepath.Join(folder, "empty"))
	python := filepath.Join(folder, "empty", "bin", "python")
	run(
		t,
		".",
		who,
		"python3",
		"-m",
		"pip",
		"--python",
		python,
		"install",
		"--quiet",
		"--no-index",
		"--no-cache-dir",
		"--no-compile",
		packed,
	)
	run(t, "python/test", who, python, "-W", "error", "-m", "unittest", "unit", "flow")

	write(t, folder, "receiver.py", readme(t, "python/README.md", "py"))
	checkReceiver(t, folder, python, "-W", "error", "receiver.py")
}

// unpacked lists the files of a packed package, without the folder that they are all in.
func unpacked(t *testing.T, name string) []string {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	plain, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for archive := tar.NewReader(plain); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		_, inside, _ := strings.Cut(header.Name, "/")
		names = append(names, inside)
	}
}

// sameFiles tells what a package holds too much, and what it lacks.
func sameFiles(t *testing.T, what string, got, want []string) {
	t.Helper()
	for _, name := range got {
		if !slices.Contains(want, name) {
			t.Errorf("%s: holds %s", what, name)
		}
	}
	for _, name := range want {
		if !slices.Contains(got, name) {
			t.Errorf("%s: lacks %s", what, name)
		}
	}
}

func operationsOf(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../internal/web/api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c, err := reference.ParseContract(text)
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]string, len(c.Operations))
	for i, op := range c.Operations {
		ids[i] = op.ID
	}
	return ids
}

func absolute(t *testing.T, name string) string {
	t.Helper()
	whole, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return whole
}
