package console

import (
	"slices"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// TestScoreLineEndsToday: in the evening of Brazil, when another day has begun in UTC, the line of a score that was
// kept a minute ago has today's date and no later one.
func TestScoreLineEndsToday(t *testing.T) {
	evening := time.Date(2026, 11, 16, 1, 30, 0, 0, time.UTC)
	line := newScoreLine([]cyber.ScoreDay{{Day: partner.DayNumber(evening), Breach: 32}}, evening)
	if from := line.From.Format(time.DateOnly); from != "2026-11-15" {
		t.Error("the line begins on", from)
	}
	if !slices.Equal(line.Ticks, []string{"15/11"}) {
		t.Error("the line has the dates", line.Ticks)
	}
	if day := line.Days[0].Date().Format(time.DateOnly); day != "2026-11-15" {
		t.Error("the table has", day)
	}
}
