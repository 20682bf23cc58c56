package app_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// treeRoot is the top of the checkout, seen from this package's folder, where `go test` runs.
const treeRoot = "../.."

// place is one line of the floors picture: a folder and its floor.
type place struct {
	floor   string // a number, and a letter within an area: they compare as texts
	planned bool
}

// floorLine is a line of the picture: folder, floor, what it is.
var floorLine = regexp.MustCompile(`(?m)^(\.|[a-z][a-z0-9/]*)/ +([0-9][a-z]?) +(.*)$`)

// readFloors takes the floors from the picture itself, so that picture and rule cannot drift apart.
func readFloors(t *testing.T) map[string]place {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(treeRoot, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "\n## Areas and floors\n")
	if !found {
		t.Fatal("ARCHITECTURE.md has no section named Areas and floors")
	}
	parts := strings.SplitN(section, "```", 3)
	if len(parts) < 3 {
		t.Fatal("the section Areas and floors of ARCHITECTURE.md has no picture")
	}
	floors := make(map[string]place)
	for _, line := range floorLine.FindAllStringSubmatch(parts[1], -1) {
		if _, twice := floors[line[1]]; twice {
			t.Errorf("ARCHITECTURE.md gives %s/ two floors", line[1])
		}
		floors[line[1]] = place{floor: line[2], planned: strings.HasPrefix(line[3], "planned")}
	}
	if lines := strings.Count(strings.TrimSpace(parts[1]), "\n") + 1; lines != len(floors) {
		t.Errorf("the floors picture has %d lines, of which %d can be read", lines, len(floors))
	}
	return floors
}

// lineOf finds the line that a folder belongs to: its own, or that of the nearest folder above it.
func lineOf(floors map[string]place, folder string) (string, bool) {
	if _, ok := floors[folder]; ok {
		return folder, true // the top of the tree among them, which is above nothing
	}
	for ; folder != "."; folder = path.Dir(folder) {
		if _, ok := floors[folder]; ok {
			return folder, true
		}
	}
	return "", false
}

// TestFloors reads the files itself. A test that asks `go list` is answered from the test cache when the tree has
// changed, because `go test` does not see what a child process reads.
func TestFloors(t *testing.T) {
	floors := readFloors(t)
	inhabited := make(map[string]bool)
	for _, name := range treeFiles(t) {
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		folder := path.Dir(name)
		from, ok := lineOf(floors, folder)
		if !ok {
			t.Errorf("%s: no line for %s/ in the floors picture of ARCHITECTURE.md: give it a floor", name, folder)
			continue
		}
		inhabited[from] = true
		if strings.HasSuffix(name, "_test.go") {
			continue // a test may look up and sideways: rules are tested on the real store
		}
		for _, imported := range importsOf(t, name) {
			if problem := judgeImport(floors, folder, imported); problem != "" {
				t.Errorf("%s: %s", name, problem)
			}
		}
	}
	for folder, r := range floors {
		switch {
		case r.planned && inhabited[folder]:
			t.Errorf("ARCHITECTURE.md: %s/ is there now: say what it is and drop the word planned", folder)
		case !r.planned && !inhabited[folder]:
			t.Errorf("ARCHITECTURE.md: %s/ has a floor and no Go file: drop its line, or mark it planned", folder)
		}
	}
}

// forAll are the packages that packages of their own floor may import.
var forAll = []string{"internal/platform/fault", "internal/platform/durable"}

// forTests tells a folder that exists for tests, by its name: storetest, sqldbtest.
func forTests(folder string) bool { return strings.HasSuffix(folder, "test") }

// judgeImport says what is wrong with a production file of a folder importing a package, or nothing.
func judgeImport(floors map[string]place, folder, imported string) string {
	from, _ := lineOf(floors, folder)
	target, ours := strings.CutPrefix(imported, "github.com/vigiahq/vigia/")
	if !ours {
		return ""
	}
	to, ok := lineOf(floors, target)
	switch {
	case !ok:
		return "imports " + imported + ", which has no floor"
	case forTests(target) && !forTests(folder) && from != "bench":
		return "imports " + imported + ", which is for tests and benchmarks only"
	case to == from || slices.Contains(forAll, to):
		return ""
	case floors[to].floor >= floors[from].floor:
		return "floor " + floors[from].floor + " imports " + imported + " on floor " + floors[to].floor + ": imports only go down"
	}
	return ""
}

// TestFloorsTellTales shows that the judge above does find what it is there to find.
func TestFloorsTellTales(t *testing.T) {
	floors := map[string]place{
		"internal/platform/fault":   {floor: "0"},
		"internal/platform/durable": {floor: "0"},
		"internal/platform/seal":    {floor: "0"},
		"internal/partner":          {floor: "1"},
		"internal/store":            {floor: "4"},
		"internal/web/api":          {floor: "4"},
		"internal/store/storetest":  {floor: "5"},
		"cmd/vigia":                 {floor: "6"},
		"bench":                     {floor: "6"},
	}
	for _, c := range []struct {
		folder, imported string
		wrong            bool
	}{
		{"internal/store", "github.com/vigiahq/vigia/internal/partner", false},
		{"internal/store", "github.com/vigiahq/vigia/internal/store/migrations", false},         // its own folder
		{"internal/platform/seal", "github.com/vigiahq/vigia/internal/platform/fault", false},   // for all
		{"internal/platform/seal", "github.com/vigiahq/vigia/internal/platform/durable", false}, // for all
		{"internal/partner", "github.com/vigiahq/vigia/internal/store", true},                   // up
		{"internal/web/api", "github.com/vigiahq/vigia/internal/store", true},                   // sideways
		{"internal/platform/seal", "github.com/vigiahq/vigia/internal/partner/deeper", true},    // up, into a folder of a place
		{"internal/store", "github.com/vigiahq/vigia/internal/nowhere", true},                   // no floor
		{"cmd/vigia", "github.com/vigiahq/vigia/internal/store/storetest", true},                // tests only
		{"internal/store", "github.com/vigiahq/vigia/internal/store/storetest", true},           // tests only
		{"internal/partner", "github.com/vigiahq/vigia/internal/partner/keytest", true},         // tests only, in the same place
		{"bench/partner", "github.com/vigiahq/vigia/internal/partner/keytest", false},           // made-up data to measure with
		{"internal/store/storetest", "github.com/vigiahq/vigia/internal/partner", false},        // down
	} {
		if problem := judgeImport(floors, c.folder, c.imported); (problem != "") != c.wrong {
			t.Errorf("%s importing %s: %q", c.folder, c.imported, problem)
		}
	}
}

func importsOf(t *testing.T, name string) []string {
	t.Helper()
	if known, ok := imports[name]; ok {
		return known
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(treeRoot, name), nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, imported)
	}
	imports[name] = paths
	return paths
}

// What was read of the tree, once for all tests: none of them changes it.
var (
	treeNames []string
	treeTexts = map[string]string{}
	imports   = map[string][]string{}
)

// treeFiles lists the files of the tree by their slash-separated path from the root: all that a clone would hold, read
// from the disk rather than from git so that a file counts before it is committed.
func treeFiles(t *testing.T) []string {
	t.Helper()
	if treeNames != nil {
		return treeNames
	}
	unwanted := ignoredFolders(t)
	var names []string
	err := filepath.WalkDir(treeRoot, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(treeRoot, name)
		if err != nil {
			return err
		}
		relative = filepath.ToSlash(relative)
		if entry.IsDir() {
			if relative == ".git" || unwanted[relative] {
				return filepath.SkipDir
			}
			return nil
		}
		if entry.Type().IsRegular() && relative != ".git" { // in a second work tree .git is a file
			names = append(names, relative)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	treeNames = names
	return names
}

// ignoredFolders reads the lines "/folder/" of .gitignore.
func ignoredFolders(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(treeRoot, ".gitignore"))
	if err != nil {
		t.Fatal(err)
	}
	folders := make(map[string]bool)
	for _, line := range strings.Fields(string(text)) {
		if strings.HasPrefix(line, "/") && strings.HasSuffix(line, "/") {
			folders[strings.Trim(line, "/")] = true
		}
	}
	return folders
}
