package cyber

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// ErrLooksInvalid means that an operator asked for a number of first looks that cannot be granted.
var ErrLooksInvalid = fault.New(fault.Invalid, "first_looks.invalid")

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
	return statuses, err
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
