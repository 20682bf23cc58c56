package clients_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/vigiahq/vigia/internal/app/apptest"
	"github.com/vigiahq/vigia/internal/platform/gatetest"
)

// TestScenario is three partners on their first day: each installs its client from the packages of a release into an
// empty project, without network, and runs the one scenario, which is written line by line the same in all languages.
// scripts/release-test names the packages in VIGIA_TEST_PACKAGES, unpacked from the archive that is shipped.
func TestScenario(t *testing.T) {
	gatetest.Needs(t, gatetest.Clients)
	t.Parallel()
	for _, folder := range []string{"typescript", "python", "scenario", "../client"} {
		lookAt(t, folder)
	}
	installed(t, "typescript")
	packages := os.Getenv("VIGIA_TEST_PACKAGES")
	if packages == "" {
		packages = t.TempDir()
		run(t, ".", nil, "../scripts/client-packages", packages)
	}
	const want = "email ana@vazamento.test comprometido\nsandbox change-password 3\ntrue true\nAberto sv_configuracao_celular\n2027-02-03T14:00:00.000Z Android 3\n1 Celular\nfalse 404\n1 1 1 1\n0\n"
	for name, start := range map[string]func(t *testing.T, packages, project string) []string{
		"Go": installGo, "TypeScript": installTypeScript, "Python": installPython,
	} {
		t.Run(name, func(t *testing.T) {
			s := apptest.Start(t)
			project := t.TempDir()
			program := start(t, packages, project)
			who := append(
				environment(t, s),
				"VIGIA_RECEIVER="+s.URL+"/gancho",
			) // answers with a 404, which is an answer
			if got := run(t, project, who, program...); got != want {
				t.Errorf("it prints\n%s\nnot\n%s", got, want)
			}
		})
	}
}

// installGo makes a module that uses the client's archive.
func installGo(t *testing.T, packages, project string) []string {
	t.Helper()
	alone := []string{"GOPROXY=off", "GOFLAGS=-mod=mod", "GOWORK=off"}
	run(t, project, nil, "tar", "-xzf", filepath.Join(packages, "vigia-client-go-1.0.0.tar.gz"))
	run(t, project, alone, "go", "mod", "init", "parceiro.example/app")
	run(
		t,
		project,
		alone,
		"go",
		"mod",
		"edit",
		"-replace",
		"github.com/vigiahq/vigia/client=./vigia-client-go-1.0.0",
		"-require",
		"github.com/vigiahq/vigia/client@v1.0.0",
	)
	copyFile(t, filepath.Join(project, "vigia-client-go-1.0.0", "go.sum"), filepath.Join(project, "go.sum"))
	copyFile(t, "scenario/scenario.go", filepath.Join(project, "scenario.go"))
	run(t, project, alone, "go", "build", "-o", "app", "scenario.go")
	return []string{filepath.Join(project, "app")}
}

// installTypeScript makes a project that uses the npm tarball, and has the compiler judge the scenario.
func installTypeScript(t *testing.T, packages, project string) []string {
	t.Helper()
	write(t, project, "package.json", `{ "private": true, "type": "module" }`)
	alone := []string{"npm_config_cache=" + filepath.Join(project, "cache")}
	run(
		t,
		project,
		alone,
		"npm",
		"install",
		"--loglevel=error",
		"--offline",
		"--ignore-scripts",
		"--no-audit",
		"--no-fund",
		filepath.Join(packages, "vigia-client-1.0.0.tgz"),
	)
	copyFile(t, "scenario/scenario.ts", filepath.Join(project, "scenario.ts"))
	compiler := absolute(t, "typescript/node_modules/typescript/bin/tsc")
	types := absolute(t, "typescript/node_modules/@types")
	run(
		t,
		project,
		nil,
		"node",
		compiler,
		"--strict",
		"--skipLibCheck",
		"--noUncheckedIndexedAccess",
		"--target",
		"es2022",
		"--module",
		"nodenext",
		"--typeRoots",
		types,
		"--types",
		"node",
		"scenario.ts",
	)
	return []string{"node", "scenario.js"}
}

// installPython makes an environment that uses the wheel.
func installPython(t *testing.T, packages, project string) []string {
	t.Helper()
	run(t, project, nil, "python3", "-m", "venv", "--without-pip", "empty")
	python := filepath.Join(project, "empty", "bin", "python")
	run(
		t,
		project,
		nil,
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
		filepath.Join(packages, "vigia_client-1.0.0-py3-none-any.whl"),
	)
	copyFile(t, "scenario/scenario.py", filepath.Join(project, "scenario.py"))
	return []string{python, "-W", "error", "scenario.py"}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestPackagesAreReproducible: packing twice gives the same bytes, whatever is in the environment.
func TestPackagesAreReproducible(t *testing.T) {
	installed(t, "typescript")
	first, second := t.TempDir(), t.TempDir()
	run(t, ".", []string{"TZ=UTC", "LC_ALL=C"}, "../scripts/client-packages", first)
	run(t, ".", []string{"TZ=America/Sao_Paulo", "LC_ALL=C.UTF-8"}, "../scripts/client-packages", second)
	files, err := os.ReadDir(first)
	if err != nil || len(files) != 3 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		a, errA := os.ReadFile(filepath.Join(first, f.Name()))
		b, errB := os.ReadFile(filepath.Join(second, f.Name()))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs: %v %v", f.Name(), errA, errB)
		}
	}
}
