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
