package app_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDependenciesAreExplained compares docs/design/dependencies.md with go.mod: one line for each direct dependency, whole, and in the
// right part. What counts as part of the binary is what a file imports that is no test and no benchmark.
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

// directDependencies reads the requirements of go.mod that are not marked indirect.
func directDependencies(t *testing.T) []string {
	t.Helper()
	var list []string
	for _, m := range regexp.MustCompile(`(?m)^(?:require |\t)([a-z][^\s]*\.[^\s]+) v[^\s]+$`).FindAllStringSubmatch(readTree(t, "go.mod"), -1) {
		list = append(list, m[1])
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
