package cyber

import (
	"context"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/partner"
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

// PoolResource is the pool of a system.
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

// defaultShare is what a partner may have of a resource where the operator set nothing: half of all there is while there
// are several live partners, and never less than these few. Sandbox partners have the few.
const defaultShare = 10

// Most is how much a partner may have of a resource of which there is so much in all.
func (s Share) Most(mode partner.Mode, several bool, inAll int64) int64 {
	switch {
	case s.Quota > 0:
		return max(s.Quota, s.Reserved)
	case mode == partner.Sandbox:
		return max(defaultShare, s.Reserved)
	case !several:
		return max(inAll, s.Reserved)
	}
	return max(defaultShare, inAll/2, s.Reserved)
}

// Taking is one partner's share of a resource at the moment of taking, beside what the others have of it.
type Taking struct {
	Share
	Mode partner.Mode
	// ByAll is what all partners took, Owed what others have reserved and not taken yet.
	ByAll, Owed int64
	// Several is whether more than one live partner takes.
	Several bool
}

// Counted is how many of a pool's free keys have to be counted at most: more make no difference.
func (t Taking) Counted() int64 { return max(t.Owed+1, 2*(t.Used+1)-t.ByAll, 1) }

// Key refuses another key of a pool with so many free ones, up to Counted, when the partner has had its share, or when
// what is left is reserved for others.
func (t Taking) Key(free int64) error {
	inAll := t.ByAll + free
	if !t.Several {
		inAll = max(inAll, t.Used+1) // all of it is the partner's
	}
	switch {
	case t.Used >= t.Most(t.Mode, t.Several, inAll):
		return ErrShareUsed.With("operatingSystem: this partner has had its share of the keys for this system")
	case t.Used >= t.Reserved && free <= t.Owed:
		return ErrPoolEmpty.With("operatingSystem: no key left for this system")
	}
	return nil
}

// Appointment refuses another one to a partner that holds its share of all that are to come.
func (t Taking) Appointment(held, inAll int64) error {
	if held >= t.Most(t.Mode, t.Several, inAll) {
		return ErrShareUsed.With("appointments: this partner holds its share of the coming ones")
	}
	return nil
}

// mostPooled bounds one person's keys from a pool under a plan that names no bound.
const mostPooled = 10

// ShareStore keeps shares.
type ShareStore interface {
	// Shares returns what was set or used, by resource and partner.
	Shares(ctx context.Context) ([]Share, error)
	// SetShare changes a partner's share; nil leaves a figure as it is.
	SetShare(ctx context.Context, id partner.ID, of Resource, quota, reserved *int64) error
}

// Shares returns who has what of the pools and calendars.
func (e *Endpoints) Shares(ctx context.Context) ([]Share, error) { return e.store.Shares(ctx) }

// SetShare changes a partner's share; nil leaves a figure as it is.
func (e *Endpoints) SetShare(ctx context.Context, id partner.ID, of Resource, quota, reserved *int64) error {
	for _, n := range []*int64{quota, reserved} {
		if n != nil && (*n < 0 || *n > 1_000_000_000) {
			return ErrShareInvalid.With("quota, reserve: 0 to 1000000000")
		}
	}
	return e.store.SetShare(ctx, id, of, quota, reserved)
}
