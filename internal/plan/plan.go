// Package plan holds what a partner sells: plans and the insurance coverage that comes with them.
//
// Subscriptions name a plan, the cyber area reads its coverage, its device limit and the validity of its keys; both
// build on this package and neither on the other. It knows nothing of HTTP, SQL or people. The invariant it keeps: a
// plan that leaves this package's rules has an id, a name and a coverage that can be shown as it is.
package plan

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// ID names a plan of one partner, in the partner's own words: two partners may use the same id for different plans.
type ID string

// Plan is something a partner's customers subscribe to.
type Plan struct {
	ID       ID
	Partner  partner.ID
	Name     string
	Coverage Coverage
	// MaxDevices bounds the live endpoint-protection keys of one person; 0 means no bound, NoDevices that there are
	// none.
	MaxDevices int
	// KeyDays is how long an endpoint-protection key is valid; 0 means DefaultKeyDays.
	KeyDays int
	// KeysEndWithSubscription ends a person's keys when the last subscription of this plan ends.
	KeysEndWithSubscription bool
	// Watch is what the plan watches of what a subscription names, from its enrolment on.
	Watch Watch
	// Retired plans take no new subscriptions; those that exist go on.
	Retired   bool
	CreatedAt time.Time
}

// NoDevices is the bound of a plan that does not include endpoint protection.
const NoDevices = -1

// DefaultKeyDays is the validity of a key under a plan that says nothing else.
const DefaultKeyDays = 365

// KeyValidity returns how long a key issued under this plan is valid.
func (p Plan) KeyValidity() time.Duration {
	days := p.KeyDays
	if days == 0 {
		days = DefaultKeyDays
	}
	return time.Duration(days) * 24 * time.Hour
}

// Faults of this package.
var (
	ErrNotFound = fault.New(fault.NotFound, "plan.not_found")
	ErrExists   = fault.New(fault.Conflict, "plan.exists")
	ErrInvalid  = fault.New(fault.Invalid, "plan.invalid")
)

// Bounds of a plan.
const (
	MaxID          = 255
	maxName        = 255
	maxDevices     = 10_000
	maxKeyDays     = 3660
	maxWaitingDays = 3660
	maxText        = 4000
	maxList        = 50
	maxLimitReais  = 1_000_000_000_000
)

// StoredPlans is what callers ask of the store itself: no rule stands between.
type StoredPlans interface {
	// ListPlans returns a partner's plans, oldest first, retired ones too.
	ListPlans(ctx context.Context, id partner.ID) ([]Plan, error)
	GetPlan(ctx context.Context, id partner.ID, plan ID) (Plan, error)
}

// Store keeps plans.
type Store interface {
	// InsertPlan keeps a new plan; ErrExists when the partner has one of that id, partner.ErrNotFound when there is no
	// such partner.
	InsertPlan(ctx context.Context, id partner.ID, p Plan) error
	UpdatePlan(ctx context.Context, id partner.ID, plan ID, change func(*Plan) error) (Plan, error)
	StoredPlans
}

// checkPlan trims and bounds what an operator gave.
func (p *Plan) checkPlan() error {
	p.ID, p.Name = ID(strings.TrimSpace(string(p.ID))), strings.TrimSpace(p.Name)
	return errors.Join(
		fault.When(!partner.IsPrintable(string(p.ID), MaxID), ErrInvalid.With("id", fault.PrintableLength, MaxID)),
		fault.When(partner.IsDotSegment(string(p.ID)), ErrInvalid.With("id", fault.DotPath)),
		fault.When(!partner.IsPrintableLine(p.Name, 1, maxName), ErrInvalid.With("name", fault.PlainLength, maxName)),
		fault.When(
			p.MaxDevices < NoDevices || p.MaxDevices > maxDevices,
			ErrInvalid.With("max devices", fault.DeviceLimit, maxDevices),
		),
		fault.When(
			p.KeyDays < 0 || p.KeyDays > maxKeyDays,
			ErrInvalid.With("key days", fault.DefaultTo, DefaultKeyDays, maxKeyDays),
		),
		fault.When(!p.Watch.IsKnown(), ErrInvalid.With("watch", fault.OneOf, "email, cpf, phone")),
		p.Coverage.checkCoverage(),
	)
}
