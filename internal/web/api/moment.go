package api

import (
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// formatMoment writes a moment; nothing of one that is not there.
func formatMoment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(alert.TimeFormat)
}

// parseMoment reads a moment of a body.
func parseMoment(field, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || t.Year() < 1970 || strings.ContainsAny(text, ",") {
		return time.Time{}, errBodyInvalid.With(field, fault.DateTimeOffset)
	}
	return t, nil
}

// mostHours is how long what was replaced may stay valid.
const mostHours = 7 * 24

// parseHours reads a number of hours that must be given.
func parseHours(field string, hours *int64) (time.Duration, error) {
	if hours == nil {
		return 0, errBodyInvalid.With(field, fault.OverlapHours)
	}
	if *hours < 0 || *hours > mostHours {
		return 0, errBodyInvalid.With(field, fault.HoursUpTo, mostHours)
	}
	return time.Duration(*hours) * time.Hour, nil
}

// formatDay writes a day, or a time, as the contract does, empty where there is none.
func formatDay(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(alert.TimeFormat)
}

// formatDayOrNothing writes a day; nothing of one that is not known.
func formatDayOrNothing(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.DateOnly)
}
