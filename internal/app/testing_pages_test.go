package app_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

//go:generate go test -vet=off . -run TestTestingPagesAreFresh -update

// testMarks are the comments beside a test, a script or a target that the pages of docs/testing/ are made of. A mark that
// is repeated on the next line goes on.
//
//	row      D4 and what to say of this test's part in it; every test of a row carries it
//	bar      what must hold; the test with the bar is the row's first
//	seen     date and figure of the last measurement
//	tier     in which run it is, and at what size
//	broken   the build that was broken on purpose and failed
//	changed  where the bar is not the plan's, and why
//	shows    for a test that no row of the plan asks for
var testMarks = []string{"row", "bar", "seen", "tier", "broken", "changed", "shows"}

// testArea is a page, and the letters of the rows on it.
type testArea struct{ file, title, letters string }

var testAreas = []testArea{
	{"durability", "Durability", "D"},
	{"webhooks", "Webhooks", "W"},
	{"access", "Access", "A"},
	{"personal-data", "Personal data", "P"},
	{"hostile", "Hostile files, and finding what nobody thought of", "HF"},
	{"contract", "The document and the server", "C"},
}

// testRow is one promise and what stands for it.
type testRow struct {
	id    string
	by    []string // tests and targets, the one with the bar first
	texts map[string]string
}

var (
	markLine  = regexp.MustCompile(`^(?://|#)vigia:([a-z]+) (.+)$`)
	testFunc  = regexp.MustCompile(`^func ((?:Test|Fuzz)[A-Za-z0-9]+)\(`)
	rowNumber = regexp.MustCompile(`^([A-Z])([0-9]+)$`)
)

const longestMark = 300

// markedRows reads the marks of one file. What a mark in a Go file is about is the function below it, elsewhere what the
// row itself says.
func markedRows(t *testing.T, name, text string) []testRow {
	t.Helper()
	var rows []testRow
	open := 0 // rows that still wait for their function
	last := ""
	for number, line := range strings.Split(text, "\n") {
		mark := markLine.FindStringSubmatch(line)
		if function := testFunc.FindStringSubmatch(line); function != nil {
			for i := len(rows) - open; i < len(rows); i++ {
				said := strings.TrimSpace("`" + function[1] + "` in `" + path.Dir(name) + "/` " + strings.Join(rows[i].by, ""))
				rows[i].by = []string{strings.Replace(said, "/` ", "/`, ", 1)}
			}
			open = 0
		}
		if mark == nil {
			last = ""
			continue
		}
		key, value := mark[1], strings.TrimSpace(mark[2])
		switch {
		case !slices.Contains(testMarks, key):
			t.Errorf("%s:%d: vigia:%s is no mark", name, number+1, key)
		case key == "row" || key == "shows" && last != "shows":
			row := testRow{texts: map[string]string{}}
			if key == "row" {
				id, part, _ := strings.Cut(value, " ")
				row.id, row.by = id, []string{part}
			} else {
				row.texts[key] = value
			}
			rows, open = append(rows, row), open+1
		case len(rows) == 0:
			t.Errorf("%s:%d: vigia:%s stands before any row", name, number+1, key)
		default:
			texts := rows[len(rows)-1].texts
			texts[key] = strings.TrimSpace(texts[key] + " " + value)
			if key != "changed" && len(texts[key]) > longestMark {
				t.Errorf("%s:%d: vigia:%s is over %d characters", name, number+1, key, longestMark)
			}
		}
		last = key
	}
	if open > 0 && strings.HasSuffix(name, ".go") {
		t.Errorf("%s: a mark stands above no test", name)
	}
	return rows
}

// testingPages makes every page: file name -> text.
func testingPages(t *testing.T) map[string]string {
	t.Helper()
	planned := map[string]testRow{}
	others := map[string][]testRow{} // by folder
	for _, name := range treeFiles(t) {
		if !strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(name, "scripts/") && name != "Makefile" {
			continue
		}
		for _, row := range markedRows(t, name, readTree(t, name)) {
			if row.id == "" {
				others[path.Dir(name)] = append(others[path.Dir(name)], row)
				continue
			}
			known := planned[row.id]
			switch {
			case known.texts["bar"] != "" && row.texts["bar"] != "":
				t.Errorf("%s: %s has two bars", name, row.id)
			case row.texts["bar"] != "":
				row.by = append(row.by, known.by...)
				known = row
			default:
				known.id, known.by = row.id, append(known.by, row.by...)
			}
			planned[row.id] = known
		}
	}
	pages := map[string]string{}
	for _, area := range testAreas {
		var ids []string
		for id := range planned {
			if parts := rowNumber.FindStringSubmatch(id); parts == nil {
				t.Errorf("%s is no number of a row", id)
			} else if strings.Contains(area.letters, parts[1]) {
				ids = append(ids, id)
			}
		}
		slices.SortFunc(ids, func(a, b string) int {
			return cmp.Or(strings.Index(area.letters, a[:1])-strings.Index(area.letters, b[:1]), len(a)-len(b), strings.Compare(a, b))
		})
		page := pageHead(area.title)
		for _, id := range ids {
			page += planned[id].section()
			delete(planned, id)
		}
		pages[area.file] = page
	}
	for id := range planned {
		t.Errorf("%s belongs to no page", id)
	}
	const second = "internal/feed" // from here on folders are on a page of their own, for its length
	pages["more"] = pageHead("Tests that no row of the plan asks for")
	pages["more-of-data"] = pageHead("Tests that no row of the plan asks for, of breaches and what is kept")
	for _, folder := range slices.Sorted(maps.Keys(others)) {
		page := "\n## `" + folder + "/`\n\n"
		for _, row := range others[folder] {
			name, _, _ := strings.Cut(row.by[0], " in ")
			line := name + " in `" + folder + "/`: " + row.texts["shows"] + "."
			if broken := row.texts["broken"]; broken != "" {
				line += " Broken build that fails: " + broken + "."
			}
			page += wrap("- ", line)
		}
		file := "more"
		if folder >= second {
			file = "more-of-data"
		}
		pages[file] += page
	}
	return pages
}

func pageHead(title string) string {
	return "# " + title + "\n\n<!-- Made by `go generate` from the comments beside the tests: change them there. -->\n" +
		"\n[What the words mean](../testing.md).\n"
}

func (r testRow) section() string {
	text := "\n## " + r.id + "\n\n" + wrap("", strings.Join(r.by, "; ")+".") + "\n"
	date, figure, _ := strings.Cut(r.texts["seen"], " ")
	for _, line := range []struct{ label, text string }{
		{"Bar", r.texts["bar"]}, {"Seen " + date, figure}, {"Runs", r.texts["tier"]},
		{"Broken build that fails", r.texts["broken"]}, {"Where the bar is not the plan's", r.texts["changed"]},
	} {
		if line.text != "" {
			text += wrap("- ", line.label+": "+strings.TrimSuffix(line.text, ".")+".")
		}
	}
	return text
}

// wrap breaks a paragraph or an entry of a list at 118 characters.
func wrap(lead, text string) string {
	var page strings.Builder
	line := lead
	for word := range strings.FieldsSeq(text) {
		if len([]rune(line))+1+len([]rune(word)) > 118 && strings.TrimSpace(line) != "" {
			fmt.Fprintln(&page, strings.TrimRight(line, " "))
			line = strings.Repeat(" ", len(lead))
		}
		if line != lead && strings.TrimSpace(line) != "" {
			line += " "
		}
		line += word
	}
	fmt.Fprintln(&page, line)
	return page.String()
}

// TestTestingPagesAreFresh: the pages of docs/testing/ are what the marks say, there is no other page, and the page
// above them lists each.
//
//vigia:shows the pages about tests are made from the marks beside the tests
//vigia:broken a figure changed on a page; a page that is not listed
func TestTestingPagesAreFresh(t *testing.T) {
	pages := testingPages(t)
	folder := filepath.Join(treeRoot, "docs", "testing")
	index := readTree(t, "docs/testing.md")
	for file, text := range pages {
		name := filepath.Join(folder, file+".md")
		if *updateLicences {
			if err := os.MkdirAll(folder, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if have, err := os.ReadFile(name); err != nil || string(have) != text {
			t.Errorf("docs/testing/%s.md is stale (%v): run go generate ./internal/app", file, err)
		}
		if !strings.Contains(index, "(testing/"+file+".md)") {
			t.Errorf("docs/testing.md does not list docs/testing/%s.md", file)
		}
	}
	for _, name := range treeFiles(t) {
		if file, found := strings.CutPrefix(name, "docs/testing/"); found && pages[strings.TrimSuffix(file, ".md")] == "" {
			t.Errorf("%s is made from nothing", name)
		}
	}
}
