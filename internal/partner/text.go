package partner

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsPrintableLine reports whether s is one line of low to high characters: valid UTF-8 without control characters (NUL,
// tabs, line breaks, DEL). It is the rule for names and everything else that is shown inside a line.
func IsPrintableLine(s string, low, high int) bool {
	return isLengthWithin(s, low, high) && !strings.ContainsFunc(s, unicode.IsControl)
}

// Paragraphs is IsPrintableLine for longer texts: line breaks and tabs may stand in them, other control characters not.
func Paragraphs(s string, low, high int) bool {
	return isLengthWithin(s, low, high) && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t'
	})
}

// isLengthWithin reports whether s has low to high characters.
func isLengthWithin(s string, low, high int) bool {
	n := utf8.RuneCountInString(s)
	return utf8.ValidString(s) && n >= low && n <= high
}

// IsPrintable reports whether s has 1 to limit characters, all of them printable: the contract's rule for ids and user
// hashes.
func IsPrintable(s string, limit int) bool {
	if s == "" || !utf8.ValidString(s) || utf8.RuneCountInString(s) > limit {
		return false
	}
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}
