package reader

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Members of dumps are named after people: addresses, CPFs, phone numbers and cards in a text are hidden. A number
// counts from ten digits on, whatever is written between them; a date has fewer.
var (
	addressInText = regexp.MustCompile(`[^\s!/\\:;,<>()]+@[^\s!/\\:;,<>()]+`)
	numberInText  = regexp.MustCompile(`\d(?:[ .\-_]?\d){9,}`)
)

// CleanText returns a text that a reader told as it may be kept and printed: valid, without characters that steer a
// terminal, and without identifiers of people. Every text of a reader passes it, as the reader may have been taken
// over: those of a Report here, but for the names of skipped members, whose beginning the operator chose.
func CleanText(text string) string {
	text = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	text = addressInText.ReplaceAllString(text, "***@***")
	return numberInText.ReplaceAllString(text, "***")
}

// maxReason bounds a text of a report that says why something could not be read.
const maxReason = 400

// cleanTexts cleans the texts of a report that are printed as they are.
func (r *Report) cleanTexts() {
	for _, text := range []*string{&r.Failed, &r.NoRecords} {
		*text = CleanText((*text)[:min(len(*text), maxReason)])
	}
	for i := range r.Skips {
		r.Skips[i].Reason = CleanText(r.Skips[i].Reason)
	}
}
