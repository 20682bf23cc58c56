package subscription

import (
	"context"
	"sync"
	"time"
	_ "time/tzdata" // the binary knows São Paulo's clock wherever it runs

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

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
	// NewSealer returns what makes the rows of a partner's requests.
	NewSealer(ctx context.Context, id partner.ID) (Sealer, error)
	// Enrol creates rows of a partner in one transaction, except those that the partner already has or that come twice.
	// Plans in register are made first. With dryRun it only tells. It may be called again when the transaction around
	// it is repeated.
	Enrol(
		ctx context.Context, id partner.ID, rows []Row, register []plan.Plan, dryRun bool,
	) (Enrolled, error)
	// ActivePage returns the subscriptions that are neither ended nor past their expiry date, from place offset on,
	// oldest first, and how many there are.
	ActivePage(ctx context.Context, id partner.ID, offset int64, limit int) (Page, error)
	// SubscriptionOf returns the one that has not ended, else the latest that ended.
	SubscriptionOf(ctx context.Context, id partner.ID, plan plan.ID, cpf string) (Subscription, error)
	// MoveSubscriptions changes up to limit subscriptions that have not ended, with seq above after, in one transaction
	// together with their events.
	MoveSubscriptions(
		ctx context.Context, id partner.ID, which Selection, move Move, after int64, limit int,
	) (Moved, error)
}

// Changes is what changing subscriptions one by one needs besides.
type Changes interface {
	// EditSubscription changes the one that is in force: its expiry date, the reference, the metadata and the
	// beneficiary's data but the CPF. An error of the change keeps everything as it was.
	EditSubscription(
		ctx context.Context, id partner.ID, which Selection, change func(*Subscription) error,
	) (Subscription, error)
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

// ListActive returns one page of the subscriptions that have not ended by today's date, oldest first. Pages count from
// 1; a page past the last is empty and its total is true.
func (r *Registry) ListActive(ctx context.Context, id partner.ID, page int64, size int) (Page, error) {
	size = min(size, MaxPageSize)
	const beyond = 1 << 50 // no partner has that many: keeps the product below from overflowing
	offset := min(page-1, beyond/MaxPageSize) * int64(size)
	return r.store.ActivePage(ctx, id, offset, size)
}

// FindSubscription returns the subscription of a person to a plan: the one that has not ended, else the latest that
// ended.
func (r *Registry) FindSubscription(ctx context.Context, id partner.ID, p plan.ID, cpf string) (Subscription, error) {
	return r.store.SubscriptionOf(ctx, id, p, cpf)
}
