package app_test

import (
	"regexp"
	"strings"
	"testing"
)

var (
	promisedTest = regexp.MustCompile("`((?:Test|Fuzz)[A-Z][A-Za-z0-9]*)`")
	declaredTest = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Z][A-Za-z0-9]*)\(`)
)

// TestPromises: pages that name a test as the proof of something name one that is there.
func TestPromises(t *testing.T) {
	there := map[string]bool{}
	for _, name := range treeFiles(t) {
		if strings.HasSuffix(name, "_test.go") {
			for _, found := range declaredTest.FindAllStringSubmatch(readTree(t, name), -1) {
				there[found[1]] = true
			}
		}
	}
	for _, page := range []string{"SECURITY.md", "docs/compliance.md", "docs/backup.md"} {
		promised := promisedTest.FindAllStringSubmatch(readTree(t, page), -1)
		if len(promised) == 0 {
			t.Errorf("%s names no test", page)
		}
		for _, p := range promised {
			if !there[p[1]] {
				t.Errorf("%s: there is no %s", page, p[1])
			}
		}
	}
}
