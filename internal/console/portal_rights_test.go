package console

import (
	"io/fs"
	"regexp"
	"testing"

	"github.com/vigiahq/vigia/internal/operator"
)

// TestPortalDecidesEveryRoute: whoever adds a page says whether partners' people may use it, and who of them.
func TestPortalDecidesEveryRoute(t *testing.T) {
	known := map[string]bool{"GET unknown": true}
	for _, rt := range routes {
		known[rt.tableKey()] = true
		if _, decided := portalRights[rt.tableKey()]; decided != (rt.role != "") {
			t.Errorf("%s: who of a partner's people may use it? Write the decision into portalRights: %t", rt.tableKey(), decided)
		}
	}
	for key := range portalRights {
		if !known[key] {
			t.Errorf("portalRights decides about %s, which is no route", key)
		}
	}
	for key := range portalRun {
		if portalRights[key] == operator.NoRight {
			t.Errorf("portalRun has a page for %s, which is closed", key)
		}
	}
}

// TestPagesAskForKnownRoutes: a page that asks whether somebody can do something names a route.
func TestPagesAskForKnownRoutes(t *testing.T) {
	names, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		t.Fatal(err)
	}
	asked := regexp.MustCompile(`\.Can "([^"]+)"`)
	seen := 0
	for _, name := range names {
		text, err := fs.ReadFile(templateFiles, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range asked.FindAllSubmatch(text, -1) {
			seen++
			if _, err := (&frame{}).Can(string(m[1])); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if seen < 5 {
		t.Error("only", seen, "questions: is the pattern right?")
	}
}
