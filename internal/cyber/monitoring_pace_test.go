package cyber

import (
	"slices"
	"testing"

	"github.com/vigiahq/vigia/internal/partner"
)

// days gives a past of so many days, each with as many new values and hits, and a last day.
func days(n int, each, last HourPace) (hours []HourPace, now int64) {
	now = 1000 * DayHours
	for d := n; d > 0; d-- {
		each.Hour = now - int64(d)*DayHours
		hours = append(hours, each)
	}
	last.Hour = now
	return append(hours, last), now
}

// TestJudgePace: what leaves a partner's usual range, and what does not.
//
//vigia:row A21
func TestJudgePace(t *testing.T) {
	for name, c := range map[string]struct {
		past                int
		each, last          HourPace
		active, perThousand int64
		want                []Measure
	}{
		"as ever":                          {14, HourPace{0, 500, 150}, HourPace{0, 600, 170}, 1000, 300, nil},
		"twice the busiest day":            {14, HourPace{0, 500, 150}, HourPace{0, 1000, 300}, 1000, 300, nil},
		"four times":                       {14, HourPace{0, 500, 150}, HourPace{0, 2000, 600}, 1000, 300, []Measure{Adds}},
		"few values show nothing":          {14, HourPace{0, 2, 0}, HourPace{0, 99, 99}, 10, 300, nil},
		"everybody is known from breaches": {14, HourPace{0, 500, 150}, HourPace{0, 500, 400}, 1000, 300, []Measure{Hits}},
		"hardly anybody is":                {14, HourPace{0, 500, 150}, HourPace{0, 500, 10}, 1000, 300, []Measure{Hits}},
		"a new partner enrols its people":  {0, HourPace{}, HourPace{0, 3000, 900}, 1000, 300, nil},
		"a new partner without people":     {0, HourPace{}, HourPace{0, 200, 6}, 0, 300, []Measure{Adds, Hits}},
	} {
		hours, now := days(c.past, c.each, c.last)
		var got []Measure
		for _, u := range JudgePace(hours, now, c.active, c.perThousand) {
			got = append(got, u.What)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestCapsGrow: the defaults follow the partner's size, and its settings come before the service's.
func TestCapsGrow(t *testing.T) {
	if got := (Caps{}).For(0); got != (Caps{200, 1000, 1000}) {
		t.Error(got)
	}
	if got := (Caps{}).For(100_000); got != (Caps{100_200, 401_000, 5000}) {
		t.Error(got)
	}
	all := Caps{PerHour: 7, PerDay: 8}
	if got := all.Of(partner.Settings{AssetsPerHour: 9, UnknownPeople: 5}).For(1); got != (Caps{9, 8, 5}) {
		t.Error(got)
	}
}
