package cyber

import (
	"context"
	"fmt"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
)

// HourPace is what a partner added in an hour.
type HourPace struct {
	Hour        int64
	Taken, Hits int64
}

// PaceHours is how long paces are kept.
const PaceHours = 28 * 24

// Measure is what of a partner's pace may be unusual.
type Measure string

// The measures.
const (
	// Adds are new values in a day.
	Adds Measure = "adds"
	// Hits are those found in a breach as soon as they were added, in a thousand new values of a day.
	Hits Measure = "hits"
)

// Unusual is a pace that left its usual range.
type Unusual struct {
	Partner partner.ID
	What    Measure
	// Seen is the day's figure, Usual the bound that it left.
	Seen, Usual int64
	Since       time.Time
}

// How far a partner may stray before somebody should look. Few values show nothing, and a partner that has just begun
// is held against its size.
const (
	paceFloor  = 100 // values in a day that are never unusual
	paceTimes  = 3   // times the busiest day of those before
	hitsLeast  = 100 // values in a day whose hit rate says anything
	hitsTimes  = 2   // times the usual rate, or less than this part of it
	hitsMargin = 50  // in a thousand, beyond that
)

// JudgePace compares a partner's last 24 hours with the days before them. hours are in order; active are the partner's
// subscriptions, and perThousand is the rate of hits of the whole service, for a partner without a past.
func JudgePace(hours []HourPace, now, active, perThousand int64) []Unusual {
	days := make([]HourPace, PaceHours/DayHours)
	for _, h := range hours {
		if back := (now - h.Hour) / DayHours; back >= 0 && back < int64(len(days)) {
			days[back].Taken += h.Taken
			days[back].Hits += h.Hits
		}
	}
	var busiest, past, pastHits int64
	for _, d := range days[1:] {
		busiest, past, pastHits = max(busiest, d.Taken), past+d.Taken, pastHits+d.Hits
	}
	if past == 0 {
		busiest = active
	}
	var found []Unusual
	today := days[0]
	if usual := max(paceFloor, paceTimes*busiest); today.Taken > usual {
		found = append(found, Unusual{What: Adds, Seen: today.Taken, Usual: usual})
	}
	if today.Taken < hitsLeast {
		return found
	}
	usual := perThousand
	if past >= hitsLeast {
		usual = 1000 * pastHits / past
	}
	switch seen := 1000 * today.Hits / today.Taken; {
	case seen > hitsTimes*usual+hitsMargin:
		found = append(found, Unusual{What: Hits, Seen: seen, Usual: hitsTimes*usual + hitsMargin})
	case seen < usual/hitsTimes-hitsMargin: // many people of whom nothing is known: made up, perhaps
		found = append(found, Unusual{What: Hits, Seen: seen, Usual: usual/hitsTimes - hitsMargin})
	}
	return found
}

// PaceStore keeps what partners add.
type PaceStore interface {
	// Paces returns the hours of the live partners since an hour, in order, and their active subscriptions.
	Paces(ctx context.Context, since int64) (map[partner.ID][]HourPace, map[partner.ID]int64, error)
	// PacesOf returns the hours of one partner since an hour, in order.
	PacesOf(ctx context.Context, id partner.ID, since int64) ([]HourPace, error)
	// Strangers returns how many people one partner watches whom no subscription names.
	Strangers(ctx context.Context, id partner.ID) (int64, error)
	// TellUnusual keeps what is unusual now in place of what was, and returns what turned: what is new, and what is over.
	TellUnusual(ctx context.Context, now []Unusual) (begun, over []Unusual, err error)
	// Unusual returns what is kept.
	Unusual(ctx context.Context) ([]Unusual, error)
}

// Paces watches how partners use monitoring.
type Paces struct {
	store PaceStore
	now   func() time.Time
}

// NewPaces joins the rules to a store and a clock.
func NewPaces(store PaceStore, now func() time.Time) *Paces { return &Paces{store: store, now: now} }

// Watch judges every live partner and returns what turned since somebody last did, in any replica, and all that is
// unusual now.
func (p *Paces) Watch(ctx context.Context) (begun, over, all []Unusual, err error) {
	now := HourOf(p.now())
	hours, active, err := p.store.Paces(ctx, now-PaceHours)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("read paces: %w", err)
	}
	var taken, hits int64
	for _, list := range hours {
		for _, h := range list {
			taken, hits = taken+h.Taken, hits+h.Hits
		}
	}
	perThousand := 1000 * hits / max(taken, 1)
	for id, list := range hours {
		for _, u := range JudgePace(list, now, active[id], perThousand) {
			u.Partner = id
			all = append(all, u)
		}
	}
	begun, over, err = p.store.TellUnusual(ctx, all)
	return begun, over, all, err
}

// Unusual lists the partners whose pace is not as usual.
func (p *Paces) Unusual(ctx context.Context) ([]Unusual, error) { return p.store.Unusual(ctx) }

// Strangers is how many people a partner watches whom no subscription names.
func (p *Paces) Strangers(ctx context.Context, id partner.ID) (int64, error) {
	return p.store.Strangers(ctx, id)
}

// Used is how many values a partner has newly watched in this hour, and in the day that ends with it.
func (p *Paces) Used(ctx context.Context, id partner.ID) (hour, day int64, err error) {
	now := HourOf(p.now())
	hours, err := p.store.PacesOf(ctx, id, now-DayHours)
	for _, h := range hours {
		if day += h.Taken; h.Hour == now {
			hour = h.Taken
		}
	}
	return hour, day, err
}
