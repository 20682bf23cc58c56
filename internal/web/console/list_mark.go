package console

import (
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
)

// parseMark reads a place that is a time and an id.
func (f filter) parseMark() cyber.Mark {
	text, id, _ := strings.Cut(f.After, ".")
	if at := parseMicros(text); !at.IsZero() {
		return cyber.Mark{At: at, ID: id}
	}
	return cyber.Mark{}
}

// parseMicros reads a moment of a cursor; anything else is the zero time.
func parseMicros(text string) time.Time {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n != 0 {
		return time.UnixMicro(n)
	}
	return time.Time{}
}

// formatMicros writes a moment that parseMicros reads.
func formatMicros(t time.Time) string {
	if t.IsZero() {
		return "0"
	}
	return strconv.FormatInt(t.UnixMicro(), 10)
}

// parseNumber reads a place that is a number.
func (f filter) parseNumber() int64 {
	n, _ := strconv.ParseInt(f.After, 10, 64) // anything else is the beginning
	return n
}

// formatMark writes a place that parseMark reads.
func formatMark(m cyber.Mark) string {
	if m.ID == "" {
		return ""
	}
	return formatMicros(m.At) + "." + m.ID
}

// formatSeq writes a place that parseNumber reads.
func formatSeq(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// parseLaneMark reads a place in a lane.
func parseLaneMark(text string) cyber.LaneMark {
	due, id, _ := strings.Cut(text, ".")
	return cyber.LaneMark{Due: parseMicros(due), ID: cyber.CaseID(id)}
}

// formatLaneMark writes a place that parseLaneMark reads; empty at the end of the lane.
func formatLaneMark(m cyber.LaneMark) string {
	return formatMark(cyber.Mark{At: m.Due, ID: string(m.ID)})
}
