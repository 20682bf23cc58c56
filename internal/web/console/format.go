package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vigiahq/vigia/internal/cyber"
)

// lastFourDigits shows the end of a number that is long enough to hide the rest.
func lastFourDigits(s string) string {
	if len(s) < 8 {
		return "****"
	}
	return "****" + s[len(s)-4:]
}

// maskPersonName returns a name as a list shows it, enough to tell two people apart: two letters, and the last initial.
func maskPersonName(name string) string {
	words := strings.Fields(name)
	if len(words) == 0 {
		return ""
	}
	first := []rune(words[0])
	masked := string(first[:min(2, len(first))]) + "•••"
	if len(words) > 1 {
		last, _ := utf8.DecodeRuneInString(words[len(words)-1])
		masked += " " + string(last) + "."
	}
	return masked
}

// monogramOf returns the two letters that stand for a name or for an operator's address.
func monogramOf(name string) string {
	name, _, _ = strings.Cut(name, "@")
	words := strings.Fields(name)
	if len(words) == 1 { // an address: ana.prado
		words = strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == '_' || r == '-' })
	}
	if len(words) == 0 {
		return ""
	}
	first, _ := utf8.DecodeRuneInString(words[0])
	last := ""
	if len(words) > 1 {
		r, _ := utf8.DecodeRuneInString(words[len(words)-1])
		last = string(r)
	}
	return strings.ToUpper(string(first) + last)
}

// resolutionName returns the label of a resolution. The one that nobody gives is the service's own: it retracted the
// finding.
func resolutionName(r cyber.Resolution) string {
	if !offersOption(resolutionOptions, string(r)) {
		return "Retratada"
	}
	return labelOf(resolutionOptions, string(r))
}

// shortenID leaves of an id what tells it from others on one screen.
func shortenID(id any) string {
	s := []rune(fmt.Sprint(id)) // some ids are in partners' own words
	if len(s) <= 16 {
		return string(s)
	}
	prefix := 4
	if i := slices.Index(s[:5], '_'); i > 0 {
		prefix = i + 1
	}
	return string(s[:prefix]) + "…" + string(s[len(s)-8:])
}

// joinPath joins escaped segments to a path; ids may be in partners' own words.
func joinPath(segments ...any) string {
	path := ""
	for _, s := range segments {
		path += "/" + url.PathEscape(fmt.Sprint(s))
	}
	return path
}

// indentJSON lays JSON out for people; what is no JSON stays as it is.
func indentJSON(text string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(text), "", "  ") != nil {
		return text
	}
	return b.String()
}

// choiceOption is an option of a select field.
type choiceOption struct{ Value, Label string }

// badge is a word with a colour.
type badge struct{ Kind, Text string }
