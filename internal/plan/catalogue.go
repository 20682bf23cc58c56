package plan

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
)

// Catalogue creates and changes plans, for the command line and the console alike.
type Catalogue struct {
	StoredPlans
	store Store
	now   func() time.Time
}

// NewCatalogue joins the rules to a store and a clock.
func NewCatalogue(store Store, now func() time.Time) *Catalogue {
	return &Catalogue{StoredPlans: store, store: store, now: now}
}

// CreatePlan registers a plan. A coverage without a name takes the plan's.
func (c *Catalogue) CreatePlan(ctx context.Context, p Plan) (Plan, error) {
	p.CreatedAt, p.Retired = c.now(), false
	if p.Coverage.Plan == "" {
		p.Coverage.Plan = p.Name
	}
	if err := p.checkPlan(); err != nil {
		return Plan{}, err
	}
	return p, c.store.InsertPlan(ctx, p.Partner, p)
}

// EditPlan changes a plan; its id, partner and time of creation stay.
func (c *Catalogue) EditPlan(ctx context.Context, id partner.ID, plan ID, edit func(*Plan)) (Plan, error) {
	return c.store.UpdatePlan(ctx, id, plan, func(p *Plan) error {
		before := *p
		edit(p)
		p.ID, p.Partner, p.CreatedAt = before.ID, before.Partner, before.CreatedAt
		return p.checkPlan()
	})
}

// RetirePlan closes a plan to new subscriptions.
func (c *Catalogue) RetirePlan(ctx context.Context, id partner.ID, plan ID) (Plan, error) {
	return c.EditPlan(ctx, id, plan, func(p *Plan) { p.Retired = true })
}
