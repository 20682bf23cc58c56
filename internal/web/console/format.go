package console

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/plan"
)

// brazil is the time that pages show. Brazil has had no summer time since 2019, so an offset is enough and no zone
// table is needed.
var brazil = time.FixedZone("BRT", -3*60*60)

// formatBirthDay writes a stored date of birth as people do; what is no date stays as it is.
func formatBirthDay(stored string) string {
	if day, err := time.Parse(time.DateOnly, stored); err == nil {
		return day.Format("02/01/2006")
	}
	return stored
}

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

// formatDayField returns a day as the field of a form holds it.
func formatDayField(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("02/01/2006")
}

// resolutionName returns the label of a resolution. The one that nobody gives is the service's own: it retracted the
// finding.
func resolutionName(r cyber.Resolution) string {
	return cmp.Or(optionLabels(resolutionOptions)[string(r)], "Retratada")
}

func optionLabels(options []choiceOption) map[string]string {
	labels := make(map[string]string, len(options))
	for _, o := range options {
		labels[o.Value] = o.Label
	}
	return labels
}

// formatTime writes a time, or a dash for the zero time.
func formatTime(t time.Time, layout string) string {
	if t.IsZero() {
		return "—"
	}
	return t.In(brazil).Format(layout)
}

var weekdays = [...]string{
	"domingo", "segunda-feira", "terça-feira", "quarta-feira", "quinta-feira", "sexta-feira", "sábado",
}

// formatWeekday writes a time with the name of its day.
func formatWeekday(t time.Time) string {
	return weekdays[t.In(brazil).Weekday()] + ", " + formatTime(t, "02/01/2006 15:04")
}

func pluralWord(n int64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// countWithWord returns a number with what it counts.
func countWithWord(n int64, one, many string) string {
	return groupedNumber(n) + " " + pluralWord(n, one, many)
}

// toInteger returns a number of any integer type.
func toInteger(n any) int64 {
	switch n := n.(type) {
	case int:
		return int64(n)
	case int64:
		return n
	case uint64:
		return int64(n)
	case int32:
		return int64(n)
	}
	return 0
}

// briefNumber writes a number in few letters, for the side of a chart: 1234567 as 1,2 mi.
func briefNumber(n int64) string {
	switch {
	case n >= 1_000_000:
		return strings.TrimSuffix(formatTenths(n/100_000), ",0") + " mi"
	case n >= 10_000:
		return strings.TrimSuffix(formatTenths(n/100), ",0") + " mil"
	}
	return groupedNumber(n)
}

// groupedNumber writes 1234567 as 1.234.567.
func groupedNumber(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "." + s[i:]
	}
	return sign + s
}

// formatDecimal writes a number with one decimal, behind a comma.
func formatDecimal(f float64) string {
	return strings.Replace(strconv.FormatFloat(f, 'f', 1, 64), ".", ",", 1)
}

// formatTurn writes by how many tenths a score moved, with its sign: +1,4, −0,2.
func formatTurn(tenths int64) string {
	if tenths < 0 {
		return "−" + formatDecimal(float64(-tenths)/10)
	}
	return "+" + formatDecimal(float64(tenths)/10)
}

// formatByteSize writes a number of bytes for people.
func formatByteSize(n int64) string {
	units := []string{"B", "kB", "MB", "GB", "TB"}
	f, i := float64(n), 0
	for f >= 1000 && i < len(units)-1 {
		f /= 1000
		i++
	}
	if i == 0 {
		return strconv.FormatInt(n, 10) + " B"
	}
	return formatDecimal(f) + " " + units[i]
}

// formatDuration writes a duration for people: 850 µs, 12,3 ms, 2 min.
func formatDuration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return strconv.FormatInt(d.Microseconds(), 10) + " µs"
	case d < time.Second:
		return formatDecimal(float64(d.Microseconds())/1000) + " ms"
	case d < time.Minute:
		return formatDecimal(d.Seconds()) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + " min"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d.Hours())) + " h"
	}
	return countWithWord(int64(d.Hours()/24), "dia", "dias")
}

// formatTimeLeft returns how long something still takes, in words: falta 1 h, faltam 2 h.
func formatTimeLeft(d time.Duration) string {
	text := formatDuration(d)
	if strings.HasPrefix(text, "1 ") {
		return "falta " + text
	}
	return "faltam " + text
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
func joinPath(segments ...string) string {
	path := ""
	for _, s := range segments {
		path += "/" + url.PathEscape(s)
	}
	return path
}

// formatReais writes an amount as people do: 50.000 or 50.000,50.
func formatReais(m plan.Money) string {
	text := groupedNumber(int64(m) / 100)
	if cents := int64(m) % 100; cents != 0 {
		text += "," + strconv.Itoa(int(cents/10)) + strconv.Itoa(int(cents%10))
	}
	return text
}

// splitLines splits a text area, without empty lines.
func splitLines(text string) []string {
	list := []string{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
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
