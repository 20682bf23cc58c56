package subscription

import (
	"strings"
	"testing"
	"time"
)

// TestMetadataBound: eight KiB of JSON are kept, one byte more is refused.
func TestMetadataBound(t *testing.T) {
	for size, problems := range map[int]int{8 << 10: 0, 8<<10 + 1: 1} {
		c := &checker{}
		c.checkMetadata(Text{Presence: Given, Value: `"` + strings.Repeat("x", size-2) + `"`})
		if len(c.problems) != problems {
			t.Errorf("%d bytes: %v", size, c.problems)
		}
	}
}

// TestWholeNumbers: a text is a whole number in digits alone.
func TestWholeNumbers(t *testing.T) {
	for text, want := range map[string]int64{
		"120": 120, "-3": -3,
	} {
		if n, ok := wholeNumber(text); !ok || n != want {
			t.Errorf("%s: %d, %t", text, n, ok)
		}
	}
	for _, bad := range []string{"+1", "1.5", "5e1", "120.0", "1e400", "0x1p3", "x", ""} {
		if n, ok := wholeNumber(bad); ok {
			t.Errorf("%q is %d", bad, n)
		}
	}
}

// TestLastDay: a subscription lives to its expiry date, or to the day on which it was ended before that.
func TestLastDay(t *testing.T) {
	noon := time.Date(2026, 11, 15, 15, 0, 0, 0, time.UTC)
	today := DayInBrazil(noon)
	for name, c := range map[string]struct {
		s    Subscription
		last Day
		over bool
	}{
		"no end":                  {Subscription{}, 0, false},
		"expires tomorrow":        {Subscription{Expiry: today + 1}, today + 1, false},
		"expires today":           {Subscription{Expiry: today}, today, false},
		"expired yesterday":       {Subscription{Expiry: today - 1}, today - 1, true},
		"ended, without expiry":   {Subscription{EndedAt: noon}, today, true},
		"ended before its expiry": {Subscription{EndedAt: noon, Expiry: today + 9}, today, true},
		"ended after its expiry":  {Subscription{EndedAt: noon, Expiry: today - 9}, today - 9, true},
	} {
		if got := c.s.LastDay(); got != c.last || c.s.Over(today) != c.over {
			t.Errorf("%s: last day %s, over %t", name, got, !c.over)
		}
	}
}
