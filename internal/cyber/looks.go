package cyber

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// ErrLooksInvalid means that an operator asked for a number of first looks that cannot be granted.
var ErrLooksInvalid = fault.New(fault.Invalid, "first_looks.invalid")

// The first look of a value into past breaches takes a token of the partner, because its result is what a hostile
// partner would fish for. Adding a value is free.
const (
	// LookBurst is how many tokens a partner has at most, apart from those granted by an operator.
	LookBurst = 1000
	// defaultLooksPerHour is how many tokens return in an hour unless the operator set another number.
	defaultLooksPerHour = 200
	// LookSubscriptionAge is how long a subscription must have been in force, and known to the service, to give its
	// partner one more token a day: a partner could enrol made-up people with dates of the past.
	LookSubscriptionAge = 30 * 24 * time.Hour
	// MaxGrant bounds what an operator may grant at once.
	MaxGrant = 1_000_000_000
)

// LooksPerHour returns how many tokens return to a partner in an hour, besides those of its subscriptions.
func LooksPerHour(s partner.Settings) int64 {
	if s.FirstLooksPerHour == 0 {
		return defaultLooksPerHour
	}
	return int64(s.FirstLooksPerHour)
}

// LookBucket holds the tokens of one partner.
type LookBucket struct {
	Tokens     int64
	Granted    int64 // by an operator; used when there are no other tokens
	RefilledAt time.Time
	// Subscriptions have been in force for LookSubscriptionAge or longer.
	Subscriptions int64
	Stop          LookStop
	// JudgedFrom is the first hour that the brake judges, after a release by an operator.
	JudgedFrom int64
}

// NewLookBucket returns the bucket of a partner that has not used any token yet.
func NewLookBucket(now time.Time) LookBucket { return LookBucket{Tokens: LookBurst, RefilledAt: now} }

// tokensPerDay returns how many tokens return in a day.
func (b LookBucket) tokensPerDay(perHour int64) int64 { return 24*perHour + b.Subscriptions }

// RefillTokens adds the tokens that have returned since the last refill. A clock that is behind that of the process that
// refilled last adds nothing.
func (b *LookBucket) RefillTokens(now time.Time, perHour int64) {
	each := float64(24*time.Hour) / float64(b.tokensPerDay(perHour))
	returned := int64(float64(now.Sub(b.RefilledAt)) / each)
	if returned <= 0 {
		return
	}
	b.RefilledAt = b.RefilledAt.Add(time.Duration(float64(returned) * each))
	if b.Tokens += returned; b.Tokens >= LookBurst {
		b.Tokens, b.RefilledAt = LookBurst, now
	}
}

// Left returns how many first looks can be made now.
func (b LookBucket) Left() int64 {
	if b.Stop.Stopped() {
		return 0
	}
	return b.Tokens + b.Granted
}

// TakeTokens uses up to n tokens and returns how many there were.
func (b *LookBucket) TakeTokens(n int64) int64 {
	n = min(n, b.Left())
	own := min(n, b.Tokens)
	b.Tokens, b.Granted = b.Tokens-own, b.Granted-(n-own)
	return n
}

// LookedUpBy returns when the last of so many waiting values will have had its first look, or the zero time when none waits
// or first looks are stopped.
func (b LookBucket) LookedUpBy(now time.Time, perHour, waiting int64) time.Time {
	if waiting == 0 || b.Stop.Stopped() {
		return time.Time{}
	}
	missing := max(waiting-b.Left(), 0)
	return now.Add(time.Duration(float64(missing) / float64(b.tokensPerDay(perHour)) * float64(24*time.Hour)))
}

// LookStatus is how a partner stands with its first looks.
type LookStatus struct {
	LookBucket
	PerHour int64
	Waiting int64
	Until   time.Time // see LookBucket.Until
}

// LookStore keeps the tokens of partners, and what their first looks found by the hour.
type LookStore interface {
	// LookBucket returns a partner's bucket as it was last written.
	LookBucket(ctx context.Context, id partner.ID) (LookBucket, error)
	// WaitingLooks returns how many values of a partner wait that were added from one time to another, both included; the
	// zero time is no bound.
	WaitingLooks(ctx context.Context, id partner.ID, from, to time.Time) (int64, error)
	// GrantLooks adds tokens to a partner's bucket.
	GrantLooks(ctx context.Context, id partner.ID, count int64) error
	// WaitingPartners returns the partners that have values waiting for a first look.
	WaitingPartners(ctx context.Context) ([]partner.ID, error)
	// StartLooks takes tokens for the oldest waiting values of a partner, at most limit, and makes their first look due.
	StartLooks(ctx context.Context, id partner.ID, perHour, limit int64) (int64, error)
	// CountSubscriptions counts a partner's subscriptions that give tokens, unless that was done within a day.
	CountSubscriptions(ctx context.Context, id partner.ID) error
	// ListLookHours returns the hours of all live partners behind an hour, in order.
	ListLookHours(ctx context.Context, after int64) (map[partner.ID][]LookHour, error)
	// StopFirstLooks stops a partner's first looks, tells the partner by an event and adds a line to the audit trail. It does
	// nothing when they are stopped already, and reports whether it stopped them.
	StopFirstLooks(ctx context.Context, id partner.ID, stop LookStop) (bool, error)
	// ReleaseLooks undoes StopLooks and tells the partner. It reports whether they were stopped.
	ReleaseLooks(ctx context.Context, id partner.ID) (bool, error)
	// StoppedLooks returns the partners whose first looks are stopped.
	StoppedLooks(ctx context.Context) (map[partner.ID]LookStop, error)
	// ForgetLookHours deletes hours before one.
	ForgetLookHours(ctx context.Context, before int64) error
}

// Partners reads partners.
type Partners interface {
	PartnerByID(ctx context.Context, id partner.ID) (partner.Partner, error)
}

// FirstLooks paces the first looks of live partners.
type FirstLooks struct {
	store    LookStore
	partners Partners
	now      func() time.Time
}

// NewFirstLooks joins the rules to a store and a clock.
func NewFirstLooks(store LookStore, partners Partners, now func() time.Time) *FirstLooks {
	return &FirstLooks{store: store, partners: partners, now: now}
}

// LookStatus returns how a partner stands.
func (f *FirstLooks) LookStatus(ctx context.Context, id partner.ID, settings partner.Settings) (LookStatus, error) {
	return f.LookStatusSince(ctx, id, settings, time.Time{})
}

// LookStatusSince is Status for values that were added up to a time: later ones do not count as waiting.
func (f *FirstLooks) LookStatusSince(ctx context.Context, id partner.ID, settings partner.Settings, added time.Time) (LookStatus, error) {
	b, err := f.store.LookBucket(ctx, id)
	if err != nil {
		return LookStatus{}, err
	}
	waiting, err := f.store.WaitingLooks(ctx, id, time.Time{}, added)
	if err != nil {
		return LookStatus{}, err
	}
	s := LookStatus{LookBucket: b, PerHour: LooksPerHour(settings), Waiting: waiting}
	s.RefillTokens(f.now(), s.PerHour)
	s.Until = s.LookBucket.LookedUpBy(f.now(), s.PerHour, waiting)
	return s, nil
}

// CountWaiting returns how many values of each partner wait, of those that have any.
func (f *FirstLooks) CountWaiting(ctx context.Context) (map[partner.ID]int64, error) {
	ids, err := f.store.WaitingPartners(ctx)
	counts := make(map[partner.ID]int64, len(ids))
	for _, id := range ids {
		if err == nil {
			counts[id], err = f.store.WaitingLooks(ctx, id, time.Time{}, time.Time{})
		}
	}
	return counts, err
}

// GrantLooks gives a live partner more first looks, for the time when it brings its customers.
func (f *FirstLooks) GrantLooks(ctx context.Context, id partner.ID, count int64) error {
	if count < 1 || count > MaxGrant {
		return ErrLooksInvalid.With("count", fault.OneTo, MaxGrant)
	}
	if err := f.checkLivePartner(ctx, id); err != nil {
		return err
	}
	return f.store.GrantLooks(ctx, id, count)
}

// ReleaseLooks lets first looks go on that the brake stopped. It is no error when they were not stopped.
func (f *FirstLooks) ReleaseLooks(ctx context.Context, id partner.ID) error {
	if err := f.checkLivePartner(ctx, id); err != nil {
		return err
	}
	_, err := f.store.ReleaseLooks(ctx, id)
	return err
}

// checkLivePartner refuses partners of the sandbox.
func (f *FirstLooks) checkLivePartner(ctx context.Context, id partner.ID) error {
	p, err := f.partners.PartnerByID(ctx, id)
	if err == nil && p.Mode.Has(partner.Unpaced) {
		err = ErrLooksInvalid.With("partner", fault.SandboxNotPaced)
	}
	return err
}

// startBatch is how many first looks of one partner begin at a time: others come in between.
const startBatch = 500

// StartLooks begins the first looks of waiting values for which there are tokens, some of each partner, and returns how many.
func (f *FirstLooks) StartLooks(ctx context.Context) (int64, error) {
	ids, err := f.store.WaitingPartners(ctx)
	if err != nil {
		return 0, fmt.Errorf("find waiting values: %w", err)
	}
	var started int64
	for _, id := range ids {
		p, err := f.partners.PartnerByID(ctx, id)
		if err != nil {
			return started, fmt.Errorf("start first looks: %w", err)
		}
		n, err := f.store.StartLooks(ctx, id, LooksPerHour(p.Settings), startBatch)
		if err != nil {
			return started, fmt.Errorf("start first looks: %w", err)
		}
		started += n
	}
	return started, nil
}

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
