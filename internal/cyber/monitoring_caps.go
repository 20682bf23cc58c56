package cyber

import (
	"time"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/partner"
)

// Faults of a partner that asks for more than it may.
var (
	// ErrAssetPace means that as many values were added as an hour or a day takes.
	ErrAssetPace = fault.New(fault.RateLimited, "asset.too_many_new")
	// ErrStrangers means that no more people may be watched whom no subscription names.
	ErrStrangers = fault.New(fault.Conflict, "asset.too_many_unknown_people")
)

// Caps are how much one partner may newly watch: watching is a way of asking whether somebody's data leaked, and a
// partner that asks about people who are not its own is fishing. A zero means the default, which grows with the
// partner's active subscriptions.
type Caps struct {
	// PerHour and PerDay bound values that were not watched before; what was taken away again counts on.
	PerHour, PerDay int64
	// Strangers bounds the people watched whom no subscription in force names.
	Strangers int64
}

// The defaults. A person who was enrolled brings some four values, and a partner that enrols many brings them in a day;
// people whom no subscription names are few, such as those who try the product out.
const (
	capHourBase, capHourEach           = 200, 1
	capDayBase, capDayEach             = 1000, 4
	strangersBase, strangersOneOfEvery = 1000, 20
)

// Of is what holds for one partner: its own settings before the service's.
func (c Caps) Of(s partner.Settings) Caps {
	own := func(set int, all int64) int64 {
		if set != 0 {
			return int64(set)
		}
		return all
	}
	return Caps{PerHour: own(s.AssetsPerHour, c.PerHour), PerDay: own(s.AssetsPerDay, c.PerDay), Strangers: own(s.UnknownPeople, c.Strangers)}
}

// For fills in the defaults of a partner with so many active subscriptions.
func (c Caps) For(active int64) Caps {
	if c.PerHour == 0 {
		c.PerHour = capHourBase + capHourEach*active
	}
	if c.PerDay == 0 {
		c.PerDay = capDayBase + capDayEach*active
	}
	if c.Strangers == 0 {
		c.Strangers = max(strangersBase, active/strangersOneOfEvery)
	}
	return c
}

// Allowance is what is left of the caps on new values; the zero value where none hold.
type Allowance struct {
	HourCap, HourLeft int64
	DayCap, DayLeft   int64
	// Wait is how long until there is more, when there is none.
	Wait time.Duration
}

// Left is what is left when so many places of this hour and of this day are taken.
func (c Caps) Left(hour, day int64) Allowance {
	return Allowance{HourCap: c.PerHour, HourLeft: max(c.PerHour-hour, 0), DayCap: c.PerDay, DayLeft: max(c.PerDay-day, 0)}
}

// Grant is how many places for new values a partner is given.
type Grant struct {
	Places int64
	// Hour and Day are how many of this hour and of this day are taken then.
	Hour, Day int64
	// Left is what is left once one of the places is used; where none is given, what is left and how long to wait.
	Left Allowance
}

// Grant gives a partner up to so many places, after what it took in the hours of a day, oldest first. When there is none
// it is ErrAssetPace.
func (c Caps) Grant(now time.Time, hours []HourPace, ask int64) (Grant, error) {
	var g Grant
	for _, h := range hours {
		if g.Day += h.Taken; h.Hour == HourOf(now) {
			g.Hour = h.Taken
		}
	}
	places := min(ask, c.PerHour-g.Hour, c.PerDay-g.Day)
	if places <= 0 {
		g.Left = c.Left(g.Hour, g.Day)
		g.Left.Wait = c.untilFreed(now, hours, g.Day)
		return g, ErrAssetPace.With("value: this partner may add %d new ones in an hour and %d in a day", c.PerHour, c.PerDay)
	}
	return Grant{Places: places, Hour: g.Hour + places, Day: g.Day + places, Left: c.Left(g.Hour+1, g.Day+1)}, nil
}

// untilFreed is how long until there are places again: the next hour, or the one in which enough of the day is past.
func (c Caps) untilFreed(now time.Time, hours []HourPace, day int64) time.Duration {
	free := HourOf(now) + 1
	for _, h := range hours {
		if day < c.PerDay {
			break
		}
		day -= h.Taken
		free = max(free, h.Hour+DayHours)
	}
	return time.Unix(free*int64(time.Hour/time.Second), 0).Sub(now)
}

// HourOf numbers hours since 1970.
func HourOf(t time.Time) int64 { return t.Unix() / int64(time.Hour/time.Second) }

// DayHours is how many hours a day's cap spans: this one and those before.
const DayHours = 24

// Kept is what became of a value.
type Kept struct {
	// Added is false when the person had it already.
	Added bool
	Left  Allowance
}
