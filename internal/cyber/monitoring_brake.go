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
	// Granted are the tokens that an operator gave in this hour.
	Granted int64
}

// HourNumber numbers hours since 1970.
func HourNumber(t time.Time) int64 { return t.Unix() / int64(time.Hour/time.Second) }

// LookMeasure is what of a partner's first looks left its usual range.
type LookMeasure string

// The measures.
const (
	// TooManyAdds means more new values in a day than the partner's busiest days and tokens explain.
	TooManyAdds LookMeasure = "adds"
	// UnusualHits means that far more, or far fewer, first looks found a breach than usual.
	UnusualHits LookMeasure = "hits"
)

// LookStop is why and since when a partner's first looks are stopped; the zero value when they are not.
type LookStop struct {
	At   time.Time
	What LookMeasure
	// Seen is the figure of the day, Usual the bound that it crossed: values, or hits in a thousand first looks.
	Seen, Usual int64
}

// Stopped reports whether first looks are stopped.
func (s LookStop) Stopped() bool { return !s.At.IsZero() }

// What the brake compares. The documentation of limits explains it to operators.
const (
	dayHours  = 24
	brakeDays = 28 // how far back the usual range reaches
	// brakeSample is how few first looks of a day, or of the past, tell nothing: a small bank never trips the brake.
	brakeSample = 300
	// brakeHits is by how many the hits of a day must differ from what is usual, and brakeOdds how many times the odds
	// of a hit must be those that are usual, or how small a part of them.
	brakeHits, brakeOdds = 50, 4
	// brakePeers is how many other partners make a range for one without a past.
	brakePeers = 3
	// brakeTimes is how many times its busiest day a partner may add in a day, and brakeTokens how many days of tokens.
	brakeTimes, brakeTokens = 10, 2
)

// lookRange is what was usual for a partner before the day that is judged.
type lookRange struct {
	looks, hits, busiest int64
	isKnown              bool
}

// splitLookHours splits a partner's hours into the day that ends now and the range before it.
func splitLookHours(hours []LookHour, now, judgedFrom int64) (day LookHour, past lookRange) {
	begin := max(now-dayHours+1, judgedFrom)
	days := map[int64]int64{}
	for _, h := range hours {
		day.Granted += h.Granted // what was granted for an onboarding is used up over many days
		if h.Hour >= begin {
			day.Looks, day.Hits = day.Looks+h.Looks, day.Hits+h.Hits
			continue
		}
		past.looks, past.hits = past.looks+h.Looks, past.hits+h.Hits
		days[h.Hour/dayHours] += h.Looks
		past.busiest = max(past.busiest, days[h.Hour/dayHours])
	}
	past.isKnown = past.looks >= brakeSample
	return day, past
}

// usualLookRange returns the median hit rate, in a thousand, and the median busiest day of partners with a past.
func usualLookRange(peers []lookRange) (perThousand, busiest int64, ok bool) {
	if len(peers) < brakePeers {
		return 0, 0, false
	}
	rates, days := make([]int64, len(peers)), make([]int64, len(peers))
	for i, p := range peers {
		rates[i], days[i] = 1000*p.hits/p.looks, p.busiest
	}
	slices.Sort(rates)
	slices.Sort(days)
	return rates[len(rates)/2], days[len(days)/2], true
}

// judgeLooks compares a partner's day with its own range, or with that of its peers when it has none. adds are the
// values that it added in the day, and tokens how many return to it in a day.
func judgeLooks(day LookHour, past lookRange, peers []lookRange, adds, tokens int64) (LookStop, bool) {
	perThousand, busiest, ok := usualLookRange(peers)
	if past.isKnown {
		perThousand, busiest, ok = 1000*past.hits/past.looks, past.busiest, true
	}
	if usual := max(brakeTimes*busiest, LookBurst+brakeTokens*tokens) + day.Granted; adds > usual {
		return LookStop{What: TooManyAdds, Seen: adds, Usual: usual}, true
	}
	if !ok || day.Looks < brakeSample {
		return LookStop{}, false
	}
	// One hit and one miss more on each side keep the odds of none, and of all, finite.
	odds := func(hits, looks float64) float64 { return (hits + 1) / (looks - hits + 1) }
	rate := func(odds float64) int64 { return int64(1000 * odds / (1 + odds)) }
	expected := float64(day.Looks*perThousand) / 1000
	usual, seen := odds(expected, float64(day.Looks)), odds(float64(day.Hits), float64(day.Looks))
	stop := LookStop{What: UnusualHits, Seen: 1000 * day.Hits / day.Looks}
	switch differ := float64(day.Hits) - expected; {
	case differ >= brakeHits && seen > usual*brakeOdds:
		stop.Usual = rate(usual * brakeOdds)
		return stop, true
	case differ <= -brakeHits && seen < usual/brakeOdds:
		stop.Usual = rate(usual / brakeOdds)
		return stop, true
	}
	return LookStop{}, false
}

// BrakeLooks judges every live partner, stops the first looks of those that left their usual range, and returns what it
// stopped.
func (f *FirstLooks) BrakeLooks(ctx context.Context) (map[partner.ID]LookStop, error) {
	now := f.now()
	hour := HourNumber(now)
	hours, err := f.store.ListLookHours(ctx, hour-brakeDays*dayHours)
	if err != nil {
		return nil, fmt.Errorf("read first looks: %w", err)
	}
	past := make(map[partner.ID]lookRange, len(hours))
	for id, list := range hours {
		_, past[id] = splitLookHours(list, hour, 0)
	}
	stopped := map[partner.ID]LookStop{}
	for id, list := range hours {
		var peers []lookRange
		for other, r := range past {
			if other != id && r.isKnown {
				peers = append(peers, r)
			}
		}
		stop, err := f.judgePartner(ctx, id, list, peers, now)
		if err != nil {
			return stopped, fmt.Errorf("judge first looks of %s: %w", id, err)
		}
		if stop.Stopped() {
			stopped[id] = stop
		}
	}
	return stopped, f.store.ForgetLookHours(ctx, hour-brakeDays*dayHours)
}

// judgePartner stops the first looks of a partner if they left the usual range; it returns the stop, if it made one.
func (f *FirstLooks) judgePartner(ctx context.Context, id partner.ID, hours []LookHour, peers []lookRange, now time.Time) (LookStop, error) {
	if err := f.store.CountSubscriptions(ctx, id); err != nil {
		return LookStop{}, err
	}
	b, err := f.store.LookBucket(ctx, id)
	if err != nil || b.Stop.Stopped() {
		return LookStop{}, err
	}
	p, err := f.partners.PartnerByID(ctx, id)
	if err != nil {
		return LookStop{}, err
	}
	hour := HourNumber(now)
	day, past := splitLookHours(hours, hour, b.JudgedFrom)
	begin := time.Unix(max(hour-dayHours+1, b.JudgedFrom)*int64(time.Hour/time.Second), 0)
	waiting, err := f.store.WaitingLooks(ctx, id, begin, time.Time{})
	if err != nil {
		return LookStop{}, err
	}
	stop, ok := judgeLooks(day, past, peers, day.Looks+waiting, b.tokensPerDay(LooksPerHour(p.Settings)))
	if !ok {
		return LookStop{}, nil
	}
	stop.At = now
	if done, err := f.store.StopFirstLooks(ctx, id, stop); err != nil || !done {
		return LookStop{}, err
	}
	return stop, nil
}

// ListStopped returns the partners whose first looks are stopped.
func (f *FirstLooks) ListStopped(ctx context.Context) (map[partner.ID]LookStop, error) {
	return f.store.StoppedLooks(ctx)
}
