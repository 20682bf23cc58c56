// Package subscription holds the rules of /subscriptions: which items of a bulk request may be created, what is wrong
// with the others, and the life of a subscription until it ends.
//
// It knows neither HTTP nor SQL nor any sentence a partner reads: what is wrong with an item is a field and a rule, and
// the API gives them words. The invariant it keeps: what reaches the store has passed every rule of the contract, and
// what did not pass is reported with all of its problems, in the order of the request.
package subscription

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
)

// Subscription is one person's subscription to one plan.
type Subscription struct {
	// Seq numbers the subscriptions of a partner in the order of creation; some numbers are never used.
	Seq    int64
	Plan   plan.ID
	Start  Day
	Expiry Day // zero: no end
	// GroupSize and Holder (the CNPJ of the company that pays) are set for group plans only.
	GroupSize int64
	Holder    string
	// Metadata is JSON that the partner gave to be kept; empty when there is none.
	Metadata string
	// InternalID is the partner's own reference; empty when there is none.
	InternalID  string
	Beneficiary Beneficiary
	// SuspendedAt and EndedAt are zero while the subscription is neither.
	SuspendedAt, EndedAt, CreatedAt time.Time
}

// ID names a subscription among those of its partner: "sub_" and its number.
type ID string

// ID returns how events name the subscription.
func (s Subscription) ID() ID { return ID("sub_" + strconv.FormatInt(s.Seq, 10)) }

// LastDay returns the last day of its life: the expiry date, or the day on which it was ended before that. Zero: no
// end.
func (s Subscription) LastDay() Day {
	if ended := DayInBrazil(s.EndedAt); !s.EndedAt.IsZero() && (s.Expiry == 0 || ended < s.Expiry) {
		return ended
	}
	return s.Expiry
}

// Over reports whether it has ended by a day: it was ended, or its expiry date lies before. The sweep that notes the
// latter comes later.
func (s Subscription) Over(today Day) bool {
	return !s.EndedAt.IsZero() || s.Expiry != 0 && s.Expiry < today
}

// Beneficiary is the person who is protected, as the partner described them.
type Beneficiary struct {
	PrimaryCard, UserCard, Name, CPF, BirthDate, Gender, Email, Phone string
	Address                                                           Address
}

// Address is where the beneficiary lives.
type Address struct {
	Zipcode, Street, Number, Complement, Neighborhood, City, State string
}

// ErrNotFound means that the partner has no such subscription.
var ErrNotFound = fault.New(fault.NotFound, "subscription.not_found")

// Page is a part of a partner's active subscriptions.
type Page struct {
	Items []Subscription
	// Total is how many there are in all.
	Total int64
}

// Store keeps subscriptions.
type Store interface {
	Changes
	// NewBatch prepares the creation of many subscriptions at once.
	NewBatch(ctx context.Context, id partner.ID) (Batch, error)
	// KeepBatch creates, in one transaction, everything that was added to a batch, except what the partner already has
	// and what was added twice: those come back by their place, and so does what was asked for and is there already or
	// was added before it. Plans in register are made first. With dryRun it only tells. It may be called again when the
	// transaction around it is repeated.
	KeepBatch(ctx context.Context, b Batch, register []plan.Plan, dryRun bool) (duplicates []int, err error)
	// ActivePage returns the subscriptions that are neither ended nor past their expiry date, from place offset on,
	// oldest first, and how many there are.
	ActivePage(ctx context.Context, id partner.ID, offset int64, limit int) (Page, error)
	// SubscriptionOf returns the one that has not ended, else the latest that ended.
	SubscriptionOf(ctx context.Context, id partner.ID, plan plan.ID, cpf string) (Subscription, error)
	// MoveSubscriptions changes up to limit subscriptions that have not ended, with seq above after, in one transaction
	// together with their events.
	MoveSubscriptions(ctx context.Context, id partner.ID, which Selection, move Move, after int64, limit int) (Moved, error)
}

// Changes is what changing subscriptions one by one needs besides.
type Changes interface {
	// EditSubscription changes the one that is in force: its expiry date, the reference, the metadata and the beneficiary's
	// data but the CPF. An error of the change keeps everything as it was.
	EditSubscription(ctx context.Context, id partner.ID, which Selection, change func(*Subscription) error) (Subscription, error)
}

// Plans tells which plans a partner has.
type Plans interface {
	ListPlans(ctx context.Context, id partner.ID) ([]plan.Plan, error)
}

// Partners lists the partners whose subscriptions the sweep has to check.
type Partners interface {
	ListPartners(ctx context.Context) ([]partner.Partner, error)
}

// Registry is the door to the subscriptions of all partners.
type Registry struct {
	store   Store
	plans   Plans
	tenants Partners
	now     func() time.Time
	setups  sync.Map // of partner.ID to *setup: one for each partner that exists
}

// NewRegistry joins the rules to what is kept and a clock.
func NewRegistry(store Store, plans Plans, tenants Partners, now func() time.Time) *Registry {
	return &Registry{store: store, plans: plans, tenants: tenants, now: now}
}

// MaxPageSize is the most that a page holds.
const MaxPageSize = 100

// ListActive returns one page of the subscriptions that have not ended by today's date, oldest first. Pages count from 1; a
// page past the last is empty and its total is true.
func (r *Registry) ListActive(ctx context.Context, id partner.ID, page int64, size int) (Page, error) {
	size = min(size, MaxPageSize)
	const beyond = 1 << 50 // no partner has that many: keeps the product below from overflowing
	offset := min(page-1, beyond/MaxPageSize) * int64(size)
	return r.store.ActivePage(ctx, id, offset, size)
}

// FindSubscription returns the subscription of a person to a plan: the one that has not ended, else the latest that ended.
func (r *Registry) FindSubscription(ctx context.Context, id partner.ID, p plan.ID, cpf string) (Subscription, error) {
	return r.store.SubscriptionOf(ctx, id, p, cpf)
}
