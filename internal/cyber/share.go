package cyber

import (
	"context"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Faults of what partners share.
var (
	// ErrNotCovered means that no subscription in force gives the person a part of what partners share.
	ErrNotCovered = fault.New(fault.Conflict, "share.not_covered")
	// ErrShareUsed means that the partner has had its share.
	ErrShareUsed = fault.New(fault.Conflict, "share.used_up")
	// ErrShareInvalid is an operator's mistake.
	ErrShareInvalid = fault.New(fault.Invalid, "share.invalid")
)

// Resource is something that all partners take from: the pool of a system's keys, or the times of all calendars.
type Resource string

// SlotResource are coming appointments, of whatever service.
const SlotResource Resource = "slot"

func PoolResource(s System) Resource { return Resource("epp." + string(s)) }

// Share is what of a resource is one partner's.
type Share struct {
	Partner  partner.ID
	Resource Resource
	// Quota is the most that the partner may have; 0 means the default.
	Quota int64
	// Reserved are kept for the partner: others find the pool empty when no more than these are left.
	Reserved int64
	// Used counts keys that were taken, ever.
	Used int64
}

// defaultShare is what a live partner may have of a resource at least, however small that is, where the operator set
// nothing. It is also the largest floor that is kept for a partner in a pool.
const defaultShare = 10

// Taking is one partner's share of a resource at the moment of taking, beside those of the other live partners. Sandbox
// partners take nothing that live partners share.
type Taking struct {
	Share
	// ByAll is what all partners took, of those that have gone since included.
	ByAll int64
	// Others are the shares of the other live partners, also of those that took nothing yet.
	Others []Share
}

// MostAllowed returns how much a partner may have of a resource of which there is so much in all: what the operator
// set, or else half of it while there are several live partners.
func (t Taking) MostAllowed(inAll int64) int64 {
	switch {
	case t.Quota > 0:
		return max(t.Quota, t.Reserved)
	case len(t.Others) == 0:
		return max(inAll, t.Reserved)
	}
	return max(defaultShare, inAll/2, t.Reserved)
}

// reservedFloor returns how many keys of a pool are kept for each live partner without a reservation: half of the pool
// in equal parts, so that two partners cannot leave nothing to a third.
func (t Taking) reservedFloor(inAll int64) int64 {
	return min(defaultShare, inAll/int64(2*(len(t.Others)+1)))
}

// keptKeys returns how many keys are kept for a partner, those that it took included.
func (s Share) keptKeys(floor int64) int64 {
	if s.Quota > 0 {
		floor = min(floor, s.Quota)
	}
	return max(s.Reserved, floor)
}

// owedKeys returns how many keys are kept for other partners and not taken yet.
func (t Taking) owedKeys(floor int64) (n int64) {
	for _, o := range t.Others {
		n += max(0, o.keptKeys(floor)-o.Used)
	}
	return n
}

// MostCounted returns how many of a pool's free keys have to be counted at most: more make no difference.
func (t Taking) MostCounted() int64 {
	forFloor := 2*defaultShare*int64(len(t.Others)+1) - t.ByAll
	return max(t.owedKeys(defaultShare)+1, 2*(t.Used+1)-t.ByAll, forFloor, 1)
}

// CheckKey refuses another key of a pool with so many free ones, up to Counted, when the partner has had its share, or
// when what is left is kept for others.
func (t Taking) CheckKey(free int64) error {
	inAll := t.ByAll + free
	if len(t.Others) == 0 {
		inAll = max(inAll, t.Used+1) // all of it is the partner's
	}
	floor := t.reservedFloor(inAll)
	switch {
	case t.Used >= t.MostAllowed(inAll):
		return ErrShareUsed.With("operatingSystem", fault.ShareOfKeysTaken)
	case free == 0, t.Used >= t.keptKeys(floor) && free <= t.owedKeys(floor):
		return ErrPoolEmpty.With("operatingSystem", fault.NoKeyLeft)
	}
	return nil
}

// Appointment refuses another one to a partner that holds its share of all that are to come.
func (t Taking) Appointment(held, inAll int64) error {
	if held >= t.MostAllowed(inAll) {
		return ErrShareUsed.With("appointments", fault.ShareOfTimesTaken)
	}
	return nil
}

// mostPooled bounds one person's keys from a pool under a plan that names no bound.
const mostPooled = 10

// ShareStore keeps shares.
type ShareStore interface {
	// UpdateShare changes a partner's share; nil leaves a figure as it is.
	UpdateShare(ctx context.Context, id partner.ID, of Resource, quota, reserved *int64) error
}

// UpdateShare changes a partner's share; nil leaves a figure as it is.
func (e *Endpoints) UpdateShare(ctx context.Context, id partner.ID, of Resource, quota, reserved *int64) error {
	for _, n := range []*int64{quota, reserved} {
		if n != nil && (*n < 0 || *n > 1_000_000_000) {
			return ErrShareInvalid.With("quota, reserve", fault.ZeroTo, 1000000000)
		}
	}
	return e.store.UpdateShare(ctx, id, of, quota, reserved)
}
