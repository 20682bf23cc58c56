package subscription

import (
	"context"
	"fmt"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
)

// knownPlan is what an enrolment needs to know of a plan.
type knownPlan struct {
	isOpen bool // not retired
	watch  plan.Watch
}

// knownPlans are the plans of a partner, those that are retired too.
type knownPlans map[plan.ID]knownPlan

// setup is what an enrolment knows of a partner beforehand. Reading it costs a fifth of enrolling one person.
type setup struct {
	epoch int64
	plans knownPlans
	seal  Sealer
}

// loadSetup of a partner, remembered from a caller of the same epoch.
func (r *Registry) loadSetup(ctx context.Context, id partner.ID, epoch int64) (s *setup, remembered bool, err error) {
	if kept, there := r.setups.Load(id); there && epoch != 0 {
		if s, ok := kept.(*setup); ok && s.epoch == epoch {
			return s, true, nil
		}
	}
	s = &setup{epoch: epoch}
	if s.plans, err = r.loadPlans(ctx, id); err != nil {
		return nil, false, err
	}
	if s.seal, err = r.store.NewSealer(ctx, id); err != nil {
		return nil, false, fmt.Errorf("begin enrolment: %w", err)
	}
	if epoch != 0 {
		r.setups.Store(id, s)
	}
	return s, false, nil
}

// loadPlans returns what enrolments need to know of the partner's plans.
func (r *Registry) loadPlans(ctx context.Context, id partner.ID) (knownPlans, error) {
	known, err := r.plans.ListPlans(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read plans: %w", err)
	}
	plans := make(knownPlans, len(known))
	for _, p := range known {
		plans[p.ID] = knownPlan{isOpen: !p.Retired, watch: p.Watch}
	}
	return plans, nil
}

// checkPlanOpen returns what is known of a plan, and adds a problem if it takes no subscriptions. A sandbox partner's
// unknown plan is new: it is to be registered.
func (e *Enrolment) checkPlanOpen(c *checker, p plan.ID) (known knownPlan, isNew bool, err error) {
	if p == "" {
		return knownPlan{}, false, nil
	}
	known, isKnown := e.plans[p]
	if !isKnown && e.fresh != nil { // it may have been made since
		plans, err := e.fresh()
		if err != nil {
			return knownPlan{}, false, err
		}
		known, isKnown = plans[p]
	}
	switch {
	case isKnown && !known.isOpen:
		c.addProblem(FieldPlanID, RulePlanRetired)
	case !isKnown && !e.mode.Has(partner.NewPlans):
		c.addProblem(FieldPlanID, RulePlanUnknown)
	}
	return known, !isKnown, nil
}
