package app_test

import (
	"regexp"
	"strings"
	"testing"
)

// publishing is what only internal/platform/durable may do: the order of these calls decides what a power cut leaves,
// and is tested there.
var publishing = regexp.MustCompile(`\.(Rename|Link|Symlink|Sync)\(`)

// durableCall is a call of that package.
var durableCall = regexp.MustCompile(`\bdurable\.(Rename|Link)\(`)

// TestOneDurableWrite: files get their names in one package, so that no other can leave a sync out.
func TestOneDurableWrite(t *testing.T) {
	for _, name := range treeFiles(t) {
		ours := strings.HasPrefix(name, "internal/") || strings.HasPrefix(name, "cmd/")
		if !ours || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") ||
			strings.HasPrefix(name, "internal/platform/durable/") {
			continue
		}
		if found := publishing.FindString(durableCall.ReplaceAllString(readTree(t, name), "")); found != "" {
			t.Errorf("%s has %q: files get their names through internal/platform/durable", name, found)
		}
	}
}
