package cyber

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// ErrCoverageNotFound means that nothing covers a person.
var ErrCoverageNotFound = fault.New(fault.NotFound, "coverage.not_found")

// Entitlement is a plan that is in force for a person.
type Entitlement struct {
	plan.Plan
	// From and Until are the first and the last day of the subscription, at 00:00 UTC; Until is zero where it has no
	// end, and both are zero where the plan does not come from a subscription.
	From, Until time.Time
}

// CoveredFrom returns the first covered day, after the waiting period; zero where the start of that is unknown.
func (e Entitlement) CoveredFrom() time.Time {
	if e.From.IsZero() {
		return time.Time{}
	}
	return e.From.AddDate(0, 0, e.Coverage.WaitingDays)
}

// Entitled is what a person may build on: the plans of their subscriptions in force, and the partner's plan for
// everybody.
type Entitled struct {
	Subscribed []Entitlement
	// Default has at most one plan: what covers people without a subscription.
	Default []Entitlement
}

// ListEntitlements lists what is in force, best first: the highest limit, the older plan where two are alike.
// subscribed tells a person's own subscriptions from the partner's default.
func (e Entitled) ListEntitlements() (list []Entitlement, subscribed bool) {
	list = e.Subscribed
	if len(list) == 0 {
		list = e.Default
	}
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b Entitlement) int {
		switch {
		case a.Coverage.Limit != b.Coverage.Limit:
			return cmp.Compare(b.Coverage.Limit, a.Coverage.Limit)
		case !a.CreatedAt.Equal(b.CreatedAt):
			return a.CreatedAt.Compare(b.CreatedAt)
		}
		return cmp.Compare(a.ID, b.ID)
	})
	return list, len(e.Subscribed) > 0
}

// BestPlan returns the one plan in force: the first of All.
func (e Entitled) BestPlan() (best plan.Plan, subscribed, found bool) {
	list, subscribed := e.ListEntitlements()
	if len(list) == 0 {
		return plan.Plan{}, false, false
	}
	return list[0].Plan, subscribed, true
}

// CoverStore knows what people are entitled to.
type CoverStore interface {
	LoadEntitled(ctx context.Context, id partner.ID, u partner.UserHash) (Entitled, error)
}

// Cover answers for insurance.
type Cover struct{ store CoverStore }

// NewCover joins the rules to a store.
func NewCover(store CoverStore) *Cover { return &Cover{store: store} }

// Origin says why a cover is in force for a person.
type Origin string

// The origins.
const (
	OriginSubscription Origin = "subscription"
	OriginDefault      Origin = "default"
	OriginDemo         Origin = "demo"
)

// ListCover returns everything that covers a person, best first, and why: the plans of their subscriptions in force,
// else the partner's default, else, at a sandbox partner, the demo's. A plan without coverage is passed over: it must
// not hide what the partner gives to everybody.
func (c *Cover) ListCover(ctx context.Context, who partner.Caller, u partner.UserHash) ([]Entitlement, Origin, error) {
	e, err := c.store.LoadEntitled(ctx, who.Partner, u)
	if err != nil {
		return nil, "", err
	}
	insuresNothing := func(e Entitlement) bool { return e.Coverage.IsNone() }
	e.Subscribed = slices.DeleteFunc(slices.Clone(e.Subscribed), insuresNothing)
	e.Default = slices.DeleteFunc(slices.Clone(e.Default), insuresNothing)
	list, subscribed := e.ListEntitlements()
	switch {
	case subscribed:
		return list, OriginSubscription, nil
	case len(list) > 0:
		return list, OriginDefault, nil
	case who.Mode.Has(partner.DemoCover):
		return []Entitlement{{Plan: plan.Plan{Coverage: plan.DemoCoverage()}}}, OriginDemo, nil
	}
	return nil, "", ErrCoverageNotFound.With("userhash", fault.NoPlanInForce)
}
