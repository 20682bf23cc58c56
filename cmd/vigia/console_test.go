package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/console"
)

var (
	tableRow  = regexp.MustCompile("(?m)^\\| `([a-z -]+)` \\| (.+) \\|$")
	namedPage = regexp.MustCompile("`((?:GET|POST) /[^`]*)`")
)

// TestEveryCommandHasItsPage holds the table of docs/console-commands.md against the commands and the console's routes: a command has a page, or a
// reason to be for the terminal only.
func TestEveryCommandHasItsPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/console-commands.md")
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]bool{}
	for _, p := range console.Pages() {
		pages[p.Method+" "+p.Path] = true
	}
	rows := map[string]string{}
	for _, m := range tableRow.FindAllStringSubmatch(string(text), -1) {
		if rows[m[1]] != "" {
			t.Errorf("%s stands twice in the table", m[1])
		}
		rows[m[1]] = m[2]
	}
	for _, n := range leaves(t) {
		path := n.Path()
		row, named := rows[path], namedPage.FindAllStringSubmatch(rows[path], -1)
		if reason, terminal := strings.CutPrefix(row, "terminal: "); len(named) == 0 && (!terminal || len(reason) < 10) {
			t.Errorf("%s has neither a page nor a reason in docs/console-commands.md", path)
		}
		for _, m := range named {
			if !pages[m[1]] {
				t.Errorf("%s: the console has no %s", path, m[1])
			}
		}
		delete(rows, path)
	}
	for path := range rows {
		t.Errorf("the table names %q, which is no command", path)
	}
}
