package cyber

import (
	"context"
	"fmt"
	"time"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/partner"
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
