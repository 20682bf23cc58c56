package app_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDependenciesAreExplained compares docs/design/dependencies.md with go.mod: one line for each direct dependency,
// whole, and in the right part. What counts as part of the binary is what a file imports that is no test and no
// benchmark.
func TestDependenciesAreExplained(t *testing.T) {
	page := readTree(t, "docs/design/dependencies.md")
	binary, rest, found := strings.Cut(page, "\n## In tests only\n")
	if !found {
		t.Fatal("the page has no part for tests")
	}
	line := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ([^|]{10,}) \\| ([A-Za-z0-9.-]+) \\| ([0-9]{4}-[0-9]{2}) \\|$")
	listed := map[string]bool{} // whether in the binary
	for i, part := range []string{binary, rest} {
		for _, m := range line.FindAllStringSubmatch(part, -1) {
			listed[m[1]] = i == 0
		}
	}
	required := directDependencies(t)
	for _, module := range required {
		inBinary, ok := listed[module]
		if !ok {
			t.Errorf("docs/design/dependencies.md does not explain %s", module)
		} else if got := importedByProduct(t, module, required); got != inBinary {
			t.Errorf("docs/design/dependencies.md: %s is in the binary: %v", module, got)
		}
	}
	for module := range listed {
		if !slices.Contains(required, module) {
			t.Errorf("docs/design/dependencies.md explains %s, which go.mod does not require", module)
		}
	}
}

// The counts that the page states are those of its own list and of the list of licences, which is made from the binary.
//
//vigia:shows the counts in docs/design/dependencies.md are right
//vigia:broken a number changed there
func TestDependenciesAreCounted(t *testing.T) {
	page := readTree(t, "docs/design/dependencies.md")
	inBinary, _, _ := strings.Cut(page, "\n## In tests only\n")
	direct := strings.Count(inBinary, "\n| `")
	all := len(regexp.MustCompile(`(?m)^\| [^|]+ \| v[^|]+ \| [^|]+ \|$`).FindAllString(readTree(t, "docs/licences.md"), -1))
	want := fmt.Sprintf("made of %d modules that go.mod names directly and %d that those bring", direct, all-direct)
	if direct < 10 || all <= direct || !strings.Contains(page, want) {
		t.Errorf("docs/design/dependencies.md should say: %s", want)
	}
}

// TestClientIsLight: who imports the Go client gets the standard library and BLAKE2b, and nothing of the service.
func TestClientIsLight(t *testing.T) {
	required := regexp.MustCompile(`(?m)^(?:require |\t)([^\s(]+) v`).FindAllStringSubmatch(readTree(t, "client/go.mod"), -1)
	for _, m := range required {
		if m[1] != "golang.org/x/crypto" && m[1] != "golang.org/x/sys" {
			t.Errorf("client/go.mod requires %s", m[1])
		}
	}
	if len(required) == 0 {
		t.Error("client/go.mod cannot be read")
	}
}

// ourModule begins the path of every module of this tree.
const ourModule = "github.com/vigiahq/vigia"

// directDependencies reads the requirements of go.mod that are not marked indirect.
func directDependencies(t *testing.T) []string {
	t.Helper()
	var list []string
	for _, m := range regexp.MustCompile(`(?m)^(?:require |\t)([a-z][^\s]*\.[^\s]+) v[^\s]+$`).FindAllStringSubmatch(readTree(t, "go.mod"), -1) {
		if !strings.HasPrefix(m[1], ourModule) { // the client is a module of its own, and ours
			list = append(list, m[1])
		}
	}
	if len(list) < 10 {
		t.Fatalf("go.mod requires %v", list)
	}
	return list
}

// importedByProduct tells whether a file of the product imports a package of the module; the longest module path wins.
func importedByProduct(t *testing.T, module string, all []string) bool {
	t.Helper()
	for _, name := range treeFiles(t) {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "bench/") {
			continue
		}
		for _, imported := range importsOf(t, name) {
			owner := ""
			for _, m := range all {
				if (imported == m || strings.HasPrefix(imported, m+"/")) && len(m) > len(owner) {
					owner = m
				}
			}
			if owner == module {
				return true
			}
		}
	}
	return false
}
