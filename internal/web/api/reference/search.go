package reference

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// found is a line of the page of the search.
type found struct{ Href, Title, Words string }

// tag finds the markup in rendered Markdown, to search its text alone.
var tag = regexp.MustCompile(`<[^>]*>`)

// distinctWords returns the different words of a page, which is all that a search needs of it.
func distinctWords(page string) string {
	text := strings.ToLower(html.UnescapeString(tag.ReplaceAllString(page, " ")))
	words := strings.FieldsFunc(
		text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' },
	)
	words = slices.DeleteFunc(words, func(w string) bool { return len(w) < 3 || len(w) > 40 })
	slices.Sort(words)
	return strings.Join(slices.Compact(words), " ")
}

// writeSearch lists every page, which helps without a script too; the script leaves those that have the words.
func (w *writer) writeSearch() error {
	return w.writeTitledPage("search", "Search", "search", slices.Clone(w.found))
}
