package cyber

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
)

// LookHour is what a partner's first looks came to in an hour.
type LookHour struct {
	Hour        int64 // since 1970
	Looks, Hits int64
}

// HourNumber numbers hours since 1970.
func HourNumber(t time.Time) int64 { return t.Unix() / int64(time.Hour/time.Second) }

// LookMeasure is what of a partner's first looks is far from that of the others.
type LookMeasure string

// The measures.
const (
	UnusualAdds LookMeasure = "adds" // far more new values in a day
	UnusualHits LookMeasure = "hits" // far more, or far fewer, first looks found a breach
)

// LookFigures are what a partner's first looks came to in the last 24 hours, beside what is usual for the other live
// partners. They decide nothing: the operator looks at them.
type LookFigures struct {
	Adds, Looks, Hits int64
	// UsualAdds is the median of the others' busiest days, and UsualPerThousand of their hits in a thousand first
	// looks. HasUsual is false with fewer than three others that have a past.
	UsualAdds        int64
	UsualPerThousand int64
	HasUsual         bool
	Unusual          []LookMeasure
}

// PerThousand returns how many of a thousand first looks found a breach.
func (f LookFigures) PerThousand() int64 {
	if f.Looks == 0 {
		return 0
	}
	return 1000 * f.Hits / f.Looks
}

// What counts as far from usual. The documentation of limits explains it to operators.
const (
	dayHours     = 24
	comparedDays = 28 // how far back the usual range reaches
	// looksSample is how few first looks of a day, or of the past, tell nothing.
	looksSample = 300
	// comparedPeers is how many other partners make a usual range.
	comparedPeers = 3
	// unusualHits is by how many the hits of a day must differ from what is usual, and unusualOdds how many times the
	// odds of a hit must be those that are usual, or how small a part of them.
	unusualHits, unusualOdds = 50, 4
	// unusualAdds is how many times the busiest day of others the new values of a day must be.
	unusualAdds = 10
)

// pastLooks is what the first looks of a partner came to before the day that is compared.
type pastLooks struct {
	looks, hits, busiest int64
}

// splitLookHours splits a partner's hours into the day that ends now and what came before it.
func splitLookHours(hours []LookHour, now int64) (day LookHour, past pastLooks) {
	days := map[int64]int64{}
	for _, h := range hours {
		if h.Hour > now-dayHours {
			day.Looks += h.Looks
			day.Hits += h.Hits
			continue
		}
		past.looks += h.Looks
		past.hits += h.Hits
		days[h.Hour/dayHours] += h.Looks
		past.busiest = max(past.busiest, days[h.Hour/dayHours])
	}
	return day, past
}

// compareWith fills in what is usual for others, and what of the figures is far from it.
func (f *LookFigures) compareWith(others []pastLooks) {
	var rates, days []int64
	for _, o := range others {
		if o.looks >= looksSample {
			rates = append(rates, 1000*o.hits/o.looks)
			days = append(days, o.busiest)
		}
	}
	if len(rates) < comparedPeers {
		return
	}
	slices.Sort(rates)
	slices.Sort(days)
	f.HasUsual = true
	f.UsualPerThousand = rates[len(rates)/2]
	f.UsualAdds = days[len(days)/2]
	if f.Adds > LookBurst && f.Adds > unusualAdds*f.UsualAdds {
		f.Unusual = append(f.Unusual, UnusualAdds)
	}
	if f.isHitRateUnusual() {
		f.Unusual = append(f.Unusual, UnusualHits)
	}
}

// isHitRateUnusual compares odds, not rates: where a third of all values is known, no rate is four times as high.
func (f *LookFigures) isHitRateUnusual() bool {
	if f.Looks < looksSample {
		return false
	}
	looks, hits := float64(f.Looks), float64(f.Hits)
	expected := looks * float64(f.UsualPerThousand) / 1000
	// One hit and one miss more on each side keep the odds of none, and of all, finite.
	odds := func(hits float64) float64 { return (hits + 1) / (looks - hits + 1) }
	switch {
	case hits-expected >= unusualHits:
		return odds(hits) > unusualOdds*odds(expected)
	case expected-hits >= unusualHits:
		return odds(hits) < odds(expected)/unusualOdds
	}
	return false
}

// CompareLooks returns the figures of every live partner that made first looks lately.
func (f *FirstLooks) CompareLooks(ctx context.Context) (map[partner.ID]LookFigures, error) {
	now := f.now()
	hour := HourNumber(now)
	hours, err := f.store.ListLookHours(ctx, hour-comparedDays*dayHours)
	if err != nil {
		return nil, fmt.Errorf("compare first looks: %w", err)
	}
	figures := make(map[partner.ID]LookFigures, len(hours))
	past := make(map[partner.ID]pastLooks, len(hours))
	for id, list := range hours {
		day, before := splitLookHours(list, hour)
		waiting, err := f.store.WaitingLooks(ctx, id, now.Add(-dayHours*time.Hour), time.Time{})
		if err != nil {
			return nil, fmt.Errorf("compare first looks: %w", err)
		}
		figures[id] = LookFigures{Adds: day.Looks + waiting, Looks: day.Looks, Hits: day.Hits}
		past[id] = before
	}
	for id, of := range figures {
		var others []pastLooks
		for other, before := range past {
			if other != id {
				others = append(others, before)
			}
		}
		of.compareWith(others)
		figures[id] = of
	}
	return figures, nil
}
