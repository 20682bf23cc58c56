package console

import (
	"strconv"
	"strings"
	"time"
)

// brazil is the time that pages show. Brazil has had no summer time since 2019, so an offset is enough and no zone
// table is needed.
var brazil = time.FixedZone("BRT", -3*60*60)

// formatTime writes a time, or a dash for the zero time.
func formatTime(t time.Time, layout string) string {
	if t.IsZero() {
		return "—"
	}
	return t.In(brazil).Format(layout)
}

// formatStamp returns a time as tables show it.
func formatStamp(t time.Time) string {
	return strings.TrimSuffix(formatTime(t, "02/01/2006 15:04:05"), "—")
}

// formatBirthDay writes a stored date of birth as people do; what is no date stays as it is.
func formatBirthDay(stored string) string {
	if day, err := time.Parse(time.DateOnly, stored); err == nil {
		return day.Format("02/01/2006")
	}
	return stored
}

// formatDayField returns a day as the field of a form holds it.
func formatDayField(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("02/01/2006")
}

var weekdays = [...]string{
	"domingo", "segunda-feira", "terça-feira", "quarta-feira", "quinta-feira", "sexta-feira", "sábado",
}

// formatWeekday writes a time with the name of its day.
func formatWeekday(t time.Time) string {
	return weekdays[t.In(brazil).Weekday()] + ", " + formatTime(t, "02/01/2006 15:04")
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

// meanDuration returns how long one of n took.
func meanDuration(micros, n int64) time.Duration {
	if n == 0 {
		return 0
	}
	return time.Duration(micros/n) * time.Microsecond
}
