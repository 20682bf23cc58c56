package cyber

import (
	"errors"
	"slices"
	"testing"
	"time"

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

// TestGrant: how many places a partner is given at a time, what is left then, and how long one that has had all of the
// hour or of the day has to wait.
//
//vigia:shows no more new values are granted than hour and day have left, and a refusal tells when there are some again
//vigia:broken the day not counted; the wait of the hour for a day that is used up
func TestGrant(t *testing.T) {
	t.Parallel()
	const this = 1000
	now := time.Unix(this*3600+900, 0) // a quarter past
	caps := Caps{PerHour: 100, PerDay: 250}
	for name, c := range map[string]struct {
		hours []HourPace
		ask   int64
		want  Grant
		wait  time.Duration // of a refusal
	}{
		"the first ever":            {nil, 2, Grant{2, 2, 2, Allowance{100, 99, 250, 249, 0}}, 0},
		"the first of this hour":    {[]HourPace{{this - 1, 90, 0}}, 2, Grant{2, 2, 92, Allowance{100, 99, 250, 159, 0}}, 0},
		"some of this hour":         {[]HourPace{{this - 1, 90, 0}, {this, 50, 0}}, 2, Grant{2, 52, 142, Allowance{100, 49, 250, 109, 0}}, 0},
		"fewer than asked for":      {[]HourPace{{this, 99, 0}}, 2, Grant{1, 100, 100, Allowance{100, 0, 250, 150, 0}}, 0},
		"fewer of the day":          {[]HourPace{{this - 9, 249, 0}, {this, 0, 0}}, 2, Grant{1, 1, 250, Allowance{100, 99, 250, 0, 0}}, 0},
		"none of this hour":         {[]HourPace{{this, 100, 0}}, 2, Grant{0, 100, 100, Allowance{100, 0, 250, 150, 0}}, 45 * time.Minute},
		"none of this day":          {[]HourPace{{this - 20, 100, 0}, {this - 9, 150, 0}}, 2, Grant{0, 0, 250, Allowance{100, 100, 250, 0, 0}}, 4*time.Hour - 15*time.Minute},
		"more than the day, by far": {[]HourPace{{this - 20, 100, 0}, {this - 9, 250, 0}}, 2, Grant{0, 0, 350, Allowance{100, 100, 250, 0, 0}}, 15*time.Hour - 15*time.Minute},
	} {
		g, err := caps.Grant(now, c.hours, c.ask)
		if c.want.Left.Wait = c.wait; g != c.want || (err == nil) != (c.want.Places > 0) || err != nil && !errors.Is(err, ErrAssetPace) {
			t.Errorf("%s: %+v, want %+v: %v", name, g, c.want, err)
		}
	}
	if left := caps.Left(120, 260); left != (Allowance{HourCap: 100, DayCap: 250}) {
		t.Errorf("less than nothing is left: %+v", left)
	}
}
