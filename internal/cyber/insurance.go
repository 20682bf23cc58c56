package cyber

import (
	"context"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
)

// ErrCoverageNotFound means that nothing covers a person.
var ErrCoverageNotFound = fault.New(fault.NotFound, "coverage.not_found")

// Entitled is what a person may build on: the plans of their subscriptions in force, and the partner's plan for everybody.
type Entitled struct {
	Subscribed []plan.Plan
	// Default has at most one plan: what covers people without a subscription.
	Default []plan.Plan
}

// Plan is the one plan in force: of several subscriptions the one with the highest limit, the older plan where two are alike.
// subscribed tells it from the partner's default.
func (e Entitled) Plan() (best plan.Plan, subscribed, found bool) {
	from := e.Subscribed
	if len(from) == 0 {
		from = e.Default
	}
	for i, p := range from {
		if i == 0 || p.Coverage.Limit > best.Coverage.Limit || p.Coverage.Limit == best.Coverage.Limit && older(p, best) {
			best = p
		}
	}
	return best, len(e.Subscribed) > 0, len(from) > 0
}

func older(a, b plan.Plan) bool {
	if a.CreatedAt.Equal(b.CreatedAt) {
		return a.ID < b.ID
	}
	return a.CreatedAt.Before(b.CreatedAt)
}

// CoverStore knows what people are entitled to.
type CoverStore interface {
	Entitled(ctx context.Context, id partner.ID, u partner.UserHash) (Entitled, error)
}

// Cover answers for insurance.
type Cover struct{ store CoverStore }

// NewCover joins the rules to a store.
func NewCover(store CoverStore) *Cover { return &Cover{store: store} }

// Of returns a person's coverage: of the plan in force, or, at a sandbox partner, the demo's.
func (c *Cover) Of(ctx context.Context, who partner.Caller, u partner.UserHash) (plan.Coverage, error) {
	e, err := c.store.Entitled(ctx, who.Partner, u)
	if err != nil {
		return plan.Coverage{}, err
	}
	p, _, found := e.Plan()
	switch {
	case found:
		return p.Coverage, nil
	case who.Mode == partner.Sandbox:
		return plan.Demo(), nil
	}
	return plan.Coverage{}, ErrCoverageNotFound.With("userhash: no subscription in force and no default plan")
}
