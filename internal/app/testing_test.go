package app_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

var (
	namedTest = regexp.MustCompile("`((?:Test|Fuzz|Benchmark)[A-Za-z0-9]+)`\\s+in\\s+`([A-Za-z0-9_./-]+/)`")
	anyTest   = regexp.MustCompile("`(?:Test|Fuzz|Benchmark)[A-Za-z0-9]+`")
	planRow   = regexp.MustCompile(`(?m)^## ([DWAPHFC][0-9]+)$`)
)

// TestNamedTestsExist: the pages about tests have a section for every row of the test plan, and each test they name is
// where they say.
func TestNamedTestsExist(t *testing.T) {
	page := readTree(t, "docs/testing.md")
	for _, area := range testAreas {
		page += readTree(t, "docs/testing/"+area.file+".md")
	}
	page += readTree(t, "docs/testing/more.md")
	rows := map[string]bool{}
	for _, match := range planRow.FindAllStringSubmatch(page, -1) {
		rows[match[1]] = true
	}
	for letter, last := range map[string]int{"D": 16, "W": 4, "A": 11, "P": 10, "H": 3, "F": 6, "C": 4} {
		for n := 1; n <= last; n++ {
			if id := fmt.Sprint(letter, n); !rows[id] {
				t.Errorf("the pages about tests have no section %s", id)
			}
		}
	}
	named := namedTest.FindAllStringSubmatch(page, -1)
	if len(named) == 0 || len(named) != len(anyTest.FindAllString(page, -1)) {
		t.Errorf("%d tests are named with their folder and %d in all: write `TestX` in `folder/`", len(named), len(anyTest.FindAllString(page, -1)))
	}
	for _, match := range named {
		if !declares(t, match[2], match[1]) {
			t.Errorf("the pages about tests name %s in %s, which is not there", match[1], match[2])
		}
	}
}

func declares(t *testing.T, folder, name string) bool {
	t.Helper()
	for _, file := range treeFiles(t) {
		if strings.HasPrefix(file, folder) && !strings.Contains(file[len(folder):], "/") && strings.HasSuffix(file, "_test.go") &&
			strings.Contains(readTree(t, file), "\nfunc "+name+"(") {
			return true
		}
	}
	return false
}
