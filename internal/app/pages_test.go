package app_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// Limits of every Markdown page: what is longer is not read.
const (
	longestPage = 2000 // words, code left out
	longestCell = 300  // characters of a table's cell
	longestLine = 120  // characters of prose; tables, code and what holds one long word are exempt
)

// notProse is code, also in a list, and figures that a program writes into a page, whose lines are as long as the names in
// them.
var notProse = regexp.MustCompile("(?ms)^ *```.*?^ *```|<!-- figures: made.*?<!-- /figures -->")

// pageProblems says what of a page is too long.
func pageProblems(text string) []string {
	var problems []string
	text = notProse.ReplaceAllString(text, "")
	if words := len(strings.Fields(text)); words > longestPage {
		problems = append(problems, "too many words: split it")
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "|"):
			for cell := range strings.SplitSeq(line, "|") {
				if utf8.RuneCountInString(strings.TrimSpace(cell)) > longestCell {
					problems = append(problems, "a cell is too long: "+line[:60])
				}
			}
		case utf8.RuneCountInString(line) > longestLine:
			if len(strings.Fields(line)) > 2 {
				problems = append(problems, "a line is too long: "+line[:60])
			}
		}
	}
	return problems
}

// TestPagesAreShort holds every page of the tree, except the changelog's words, which grow with each release by their
// nature, against the limits.
//
//vigia:shows no page over 2,000 words, no cell over 300 characters, no line of prose over 120
//vigia:broken a cell of 301 characters, a line of 121, a page of 2,001 words
func TestPagesAreShort(t *testing.T) {
	for _, name := range treeFiles(t) {
		if !strings.HasSuffix(name, ".md") {
			continue
		}
		for _, problem := range pageProblems(readTree(t, name)) {
			if name != "CHANGELOG.md" || !strings.HasPrefix(problem, "too many words") {
				t.Errorf("%s: %s", name, problem)
			}
		}
	}
}

// TestLongPagesAreFound shows that the limits are asked, and where they end.
func TestLongPagesAreFound(t *testing.T) {
	prose := strings.TrimSpace(strings.Repeat("a ", longestLine/2)) // 119 characters
	for name, page := range map[string]struct {
		text string
		want int
	}{
		"a page that fits":   {strings.Repeat("word\n", longestPage), 0},
		"a word more":        {strings.Repeat("word\n", longestPage+1), 1},
		"words in code":      {"```\n" + strings.Repeat("word\n", longestPage+1) + "```\n", 0},
		"code in a list":     {"1. It\n   ```\n   " + prose + prose + "\n   ```\n", 0},
		"a cell that fits":   {"| a | " + strings.Repeat("é", longestCell) + " |\n", 0},
		"a letter more":      {"| a | " + strings.Repeat("é", longestCell+1) + " |\n", 1},
		"a line that fits":   {prose + "é\n", 0},
		"a line too long":    {prose + "éa\n", 1},
		"figures of a run":   {"<!-- figures: made by us -->\n" + prose + prose + "\n<!-- /figures -->\n", 0},
		"one long address":   {"- [a](https://" + strings.Repeat("x", longestLine) + ")\n", 0},
		"two things too far": {prose + prose + "\n| " + strings.Repeat("x", longestCell+1) + " |\n", 2},
	} {
		if got := pageProblems(page.text); len(got) != page.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
