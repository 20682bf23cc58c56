package cyber

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// ErrLooksInvalid means that an operator asked for a number of first looks that cannot be granted.
var ErrLooksInvalid = fault.New(fault.Invalid, "first_looks.invalid")

// The first look of a value into the published breaches takes a token of the partner, because its result is what a
// hostile partner would fish for. Adding a value is free. Until its first look a value takes part in no match at all,
// so that nothing is learned without a token.
const (
	// LookBurst is how many tokens a partner has at most, apart from those of its size and those granted by an
	// operator.
	LookBurst = 1000
	// minLooksPerHour is how many tokens return in an hour unless the partner's size or the operator says more.
	minLooksPerHour = 200
	// looksPerPerson is how many first looks the size of a partner gives for each person, once: an e-mail, a CPF, a
	// phone.
	looksPerPerson = 3
	// peoplePerLook is how many people of its size let one token return to a partner in an hour.
	peoplePerLook = 200
	// LookSubscriptionAge is how long a subscription must have been in force, and known to the service, to give its
	// partner one more token a day: a partner could enrol made-up people with dates of the past.
	LookSubscriptionAge = 30 * 24 * time.Hour
	// LookOverdueAfter is how long a value may wait for its first look before operator and partner are told that it is
	// not protected yet.
	LookOverdueAfter = 24 * time.Hour
	// MaxGrant bounds what an operator may grant at once.
	MaxGrant = 1_000_000_000
)

// LookPace is how many first looks a partner gets.
type LookPace struct {
	// PerHour is how many tokens return in an hour; 0 means that the operator has stopped first looks.
	PerHour int64
	// Onboarding is how many first looks the partner's size gives, once.
	Onboarding int64
}

// PaceOf returns the pace that the settings of a partner give.
func PaceOf(s partner.Settings) LookPace {
	pace := LookPace{PerHour: int64(s.FirstLooksPerHour), Onboarding: looksPerPerson * int64(s.People)}
	switch s.FirstLooksPerHour {
	case partner.LooksBySize:
		pace.PerHour = max(minLooksPerHour, int64(s.People)/peoplePerLook)
	case partner.NoFirstLooks:
		pace.PerHour = 0
	}
	return pace
}

// paceIfResumed returns the pace at which first looks go on, or would if the operator let them go on now: then it is
// that of the partner's size.
func paceIfResumed(s partner.Settings) LookPace {
	if s.FirstLooksPerHour == partner.NoFirstLooks {
		s.FirstLooksPerHour = partner.LooksBySize
	}
	return PaceOf(s)
}

// IsStopped reports whether the operator has stopped first looks.
func (p LookPace) IsStopped() bool { return p.PerHour == 0 }

// LookBucket holds the tokens of one partner.
type LookBucket struct {
	Tokens int64
	// Onboarded is how many of the first looks that the partner's size gives have been used.
	Onboarded int64
	// Granted are tokens given by an operator, used when there are no others.
	Granted    int64
	RefilledAt time.Time
	// Subscriptions have been in force for LookSubscriptionAge or longer, as they were counted at CountedAt.
	Subscriptions int64
	CountedAt     time.Time
	// Told is the state that the partner was told last.
	Told LookState
}

// NewLookBucket returns the bucket of a partner that has not used any token yet.
func NewLookBucket(now time.Time) LookBucket {
	return LookBucket{Tokens: LookBurst, RefilledAt: now, Told: LooksRunning}
}

// BonusPerDay returns how many tokens return in a day for subscriptions: at most as many as the pace itself returns.
func (b LookBucket) BonusPerDay(pace LookPace) int64 { return min(b.Subscriptions, 24*pace.PerHour) }

// tokensPerDay returns how many tokens return in a day.
func (b LookBucket) tokensPerDay(pace LookPace) int64 { return 24*pace.PerHour + b.BonusPerDay(pace) }

// RefillTokens adds the tokens that have returned since the last refill. A clock that is behind that of the process
// that refilled last adds nothing. No time counts while first looks are stopped.
func (b *LookBucket) RefillTokens(now time.Time, pace LookPace) {
	if pace.IsStopped() {
		b.RefilledAt = later(b.RefilledAt, now)
		return
	}
	each := float64(24*time.Hour) / float64(b.tokensPerDay(pace))
	returned := int64(float64(now.Sub(b.RefilledAt)) / each)
	if returned <= 0 {
		return
	}
	b.RefilledAt = b.RefilledAt.Add(time.Duration(float64(returned) * each))
	b.Tokens += returned
	if b.Tokens >= LookBurst {
		b.Tokens = LookBurst
		b.RefilledAt = now
	}
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// onboardingLeft returns how many first looks of the partner's size are left.
func (b LookBucket) onboardingLeft(pace LookPace) int64 { return max(pace.Onboarding-b.Onboarded, 0) }

// Left returns how many first looks can be made now.
func (b LookBucket) Left(pace LookPace) int64 {
	if pace.IsStopped() {
		return 0
	}
	return b.Tokens + b.onboardingLeft(pace) + b.Granted
}

// TakeTokens uses up to n tokens and returns how many there were: those that return first, then those of the partner's
// size, then those granted.
func (b *LookBucket) TakeTokens(n int64, pace LookPace) int64 {
	n = min(n, b.Left(pace))
	own := min(n, b.Tokens)
	onboarding := min(n-own, b.onboardingLeft(pace))
	b.Tokens -= own
	b.Onboarded += onboarding
	b.Granted -= n - own - onboarding
	return n
}

// LookedUpBy returns when the last of so many waiting values will have had its first look, or the zero time when none
// waits or first looks are stopped.
func (b LookBucket) LookedUpBy(now time.Time, pace LookPace, waiting int64) time.Time {
	if waiting == 0 || pace.IsStopped() {
		return time.Time{}
	}
	missing := max(waiting-b.Left(pace), 0)
	return now.Add(time.Duration(float64(missing) / float64(b.tokensPerDay(pace)) * float64(24*time.Hour)))
}

// LookStatus is how a partner stands with its first looks.
type LookStatus struct {
	Pace LookPace
	// Left is how many first looks can be made now, Granted those of them that an operator gave.
	Left    int64
	Granted int64
	// BonusPerDay is how many tokens return in a day for subscriptions.
	BonusPerDay int64
	// Waiting counts the values that wait, Overdue those that have waited for longer than LookOverdueAfter.
	Waiting int64
	Overdue int64
	// Until is when the last of those that wait will have had its first look, or the zero time when none waits. While
	// first looks are stopped it is when that would be if they went on now.
	Until time.Time
}

// State returns the state that the partner is told.
func (s LookStatus) State() LookState {
	switch {
	case s.Pace.IsStopped():
		return LooksStopped
	case s.Overdue > 0:
		return LooksOverdue
	default:
		return LooksRunning
	}
}

// LookState says whether the first looks of a partner are made in time.
type LookState string

// The states.
const (
	LooksRunning LookState = "running"
	LooksOverdue LookState = "waiting" // values have waited for longer than LookOverdueAfter
	LooksStopped LookState = "stopped"
)

// LookReason says why the state of first looks changed.
type LookReason string

// The reasons.
const (
	LooksByOperator LookReason = "operator"  // the operator stopped first looks, or lets them go on
	LooksNoTokens   LookReason = "tokens"    // more values were added than the partner's first looks allow
	LooksCaughtUp   LookReason = "caught_up" // no value has waited for long any more
)

// LookChange is a change of the state of a partner's first looks, as the partner is told.
type LookChange struct {
	State   LookState
	Reason  LookReason
	Waiting int64
	PerHour int64
}

// changeFrom returns what a partner is told whose last told state was another one.
func (s LookStatus) changeFrom(told LookState) LookChange {
	change := LookChange{State: s.State(), Waiting: s.Waiting, PerHour: s.Pace.PerHour}
	switch {
	case change.State == LooksStopped, told == LooksStopped:
		change.Reason = LooksByOperator
	case change.State == LooksOverdue:
		change.Reason = LooksNoTokens
	default:
		change.Reason = LooksCaughtUp
	}
	return change
}

// LookStore keeps the tokens of partners, and what their first looks found by the hour.
type LookStore interface {
	// LookBucket returns a partner's bucket as it was last written.
	LookBucket(ctx context.Context, id partner.ID) (LookBucket, error)
	// WaitingLooks returns how many values of a partner wait that were added from one time to another, both included;
	// the zero time is no bound.
	WaitingLooks(ctx context.Context, id partner.ID, from, to time.Time) (int64, error)
	// LooksOfUser counts the first looks of a person's values.
	LooksOfUser(ctx context.Context, id partner.ID, user partner.UserHash) (PersonLooks, error)
	// GrantLooks adds tokens to a partner's bucket.
	GrantLooks(ctx context.Context, id partner.ID, count int64) error
	// WaitingPartners returns the partners that have values waiting for a first look.
	WaitingPartners(ctx context.Context) ([]partner.ID, error)
	// StartLooks takes tokens for the oldest waiting values of a partner, at most limit, and makes their first look
	// due.
	StartLooks(ctx context.Context, id partner.ID, pace LookPace, limit int64) (int64, error)
	// CountSubscriptions counts a partner's subscriptions that give tokens, unless that was done within a day.
	CountSubscriptions(ctx context.Context, id partner.ID) error
	// TellLookChange tells a partner of a change by an event and remembers the state as told. It does nothing and
	// reports false when the partner was told of this state last.
	TellLookChange(ctx context.Context, id partner.ID, change LookChange) (bool, error)
	// ListLookHours returns the hours of all live partners behind an hour, in order.
	ListLookHours(ctx context.Context, after int64) (map[partner.ID][]LookHour, error)
	// ForgetLookHours deletes hours before one.
	ForgetLookHours(ctx context.Context, before int64) error
}

// PersonLooks is for how many of a person's values past breaches were looked into.
type PersonLooks struct {
	// Values are all that are watched for the person, Waiting those that were not looked for yet.
	Values, Waiting int
	// Since is when the first of those that wait was added, Newest when the last was.
	Since, Newest time.Time
	// Until is when the last of them will have been looked for, as things stand; the zero time when that is not known,
	// because first looks are stopped.
	Until time.Time
}

// Looked returns how many values were looked for.
func (l PersonLooks) Looked() int { return l.Values - l.Waiting }

// Join returns the looks at the values of both.
func (l PersonLooks) Join(other PersonLooks) PersonLooks {
	l.Values += other.Values
	l.Waiting += other.Waiting
	l.Newest = later(l.Newest, other.Newest)
	if l.Since.IsZero() || !other.Since.IsZero() && other.Since.Before(l.Since) {
		l.Since = other.Since
	}
	return l
}

// addValue counts a value.
func (l *PersonLooks) addValue(waits bool, addedAt time.Time) {
	l.Values++
	if !waits {
		return
	}
	l.Waiting++
	if l.Since.IsZero() || addedAt.Before(l.Since) {
		l.Since = addedAt
	}
	l.Newest = later(l.Newest, addedAt)
}

// CountLooks counts the first looks of a person's values. Until is left out: see FirstLooks.EstimateLooks.
func CountLooks(assets []Asset) (l PersonLooks) {
	for _, a := range assets {
		l.addValue(a.Waits, a.AddedAt)
	}
	return l
}

// Partners reads partners.
type Partners interface {
	PartnerByID(ctx context.Context, id partner.ID) (partner.Partner, error)
	ListPartners(ctx context.Context) ([]partner.Partner, error)
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

// LookStatusSince is LookStatus for values that were added up to a time: later ones do not count as waiting.
func (f *FirstLooks) LookStatusSince(
	ctx context.Context, id partner.ID, settings partner.Settings, added time.Time,
) (LookStatus, error) {
	bucket, err := f.store.LookBucket(ctx, id)
	if err != nil {
		return LookStatus{}, err
	}
	now := f.now()
	waiting, err := f.store.WaitingLooks(ctx, id, time.Time{}, added)
	if err != nil {
		return LookStatus{}, err
	}
	var overdue int64
	if waiting > 0 {
		if overdue, err = f.store.WaitingLooks(ctx, id, time.Time{}, now.Add(-LookOverdueAfter)); err != nil {
			return LookStatus{}, err
		}
	}
	pace := PaceOf(settings)
	bucket.RefillTokens(now, pace)
	return LookStatus{
		Pace:        pace,
		Left:        bucket.Left(pace),
		Granted:     bucket.Granted,
		BonusPerDay: bucket.BonusPerDay(pace),
		Waiting:     waiting,
		Overdue:     overdue,
		Until:       bucket.LookedUpBy(now, paceIfResumed(settings), waiting),
	}, nil
}

// CountLooksOf counts the first looks of the values of one of a partner's people.
func (f *FirstLooks) CountLooksOf(ctx context.Context, id partner.ID, user partner.UserHash) (PersonLooks, error) {
	return f.store.LooksOfUser(ctx, id, user)
}

// EstimateLooks returns the looks of one of a partner's people with Until.
func (f *FirstLooks) EstimateLooks(
	ctx context.Context, id partner.ID, settings partner.Settings, looks PersonLooks,
) (PersonLooks, error) {
	if looks.Waiting == 0 {
		return looks, nil
	}
	status, err := f.LookStatusSince(ctx, id, settings, looks.Newest)
	if err != nil || status.Pace.IsStopped() {
		return looks, err
	}
	looks.Until = later(status.Until, f.now()) // those that have a token are looked up in a moment
	return looks, nil
}

// GrantLooks gives a live partner more first looks, for the time when it brings its customers.
func (f *FirstLooks) GrantLooks(ctx context.Context, id partner.ID, count int64) error {
	if count < 1 || count > MaxGrant {
		return ErrLooksInvalid.With("count", fault.OneTo, MaxGrant)
	}
	p, err := f.partners.PartnerByID(ctx, id)
	if err != nil {
		return err
	}
	if p.Mode.Has(partner.Unpaced) {
		return ErrLooksInvalid.With("partner", fault.SandboxNotPaced)
	}
	return f.store.GrantLooks(ctx, id, count)
}

// startBatch is how many first looks of one partner begin at a time: others come in between.
const startBatch = 500

// StartLooks begins the first looks of waiting values for which there are tokens, some of each partner, and returns how
// many. What fails for one partner does not stop the others.
func (f *FirstLooks) StartLooks(ctx context.Context) (started int64, err error) {
	ids, err := f.store.WaitingPartners(ctx)
	if err != nil {
		return 0, fmt.Errorf("find waiting values: %w", err)
	}
	for _, id := range ids {
		n, failed := f.startLooksOf(ctx, id)
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("start first looks of %s: %w", id, failed))
		}
		started += n
	}
	return started, err
}

func (f *FirstLooks) startLooksOf(ctx context.Context, id partner.ID) (int64, error) {
	p, err := f.partners.PartnerByID(ctx, id)
	if err != nil {
		return 0, err
	}
	return f.store.StartLooks(ctx, id, PaceOf(p.Settings), startBatch)
}

// ReviewLooks is the regular look at all live partners: it counts the subscriptions that give tokens, tells partners
// whose first looks have come to wait, were stopped or go on, and returns how each stands. What fails for one partner
// does not stop the others.
func (f *FirstLooks) ReviewLooks(ctx context.Context) (map[partner.ID]LookStatus, error) {
	all, err := f.partners.ListPartners(ctx)
	if err != nil {
		return nil, fmt.Errorf("review first looks: %w", err)
	}
	statuses := make(map[partner.ID]LookStatus, len(all))
	for _, p := range all {
		if p.Forged || p.Mode.Has(partner.Unpaced) {
			continue
		}
		status, failed := f.reviewPartner(ctx, p)
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("review first looks of %s: %w", p.ID, failed))
			continue
		}
		statuses[p.ID] = status
	}
	if err != nil {
		return statuses, err
	}
	return statuses, f.store.ForgetLookHours(ctx, HourNumber(f.now())-comparedDays*dayHours)
}

func (f *FirstLooks) reviewPartner(ctx context.Context, p partner.Partner) (LookStatus, error) {
	if err := f.store.CountSubscriptions(ctx, p.ID); err != nil {
		return LookStatus{}, err
	}
	status, err := f.LookStatus(ctx, p.ID, p.Settings)
	if err != nil {
		return LookStatus{}, err
	}
	bucket, err := f.store.LookBucket(ctx, p.ID)
	if err != nil || bucket.Told == status.State() {
		return status, err
	}
	_, err = f.store.TellLookChange(ctx, p.ID, status.changeFrom(bucket.Told))
	return status, err
}

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
