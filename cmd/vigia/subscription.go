package main

import (
	"context"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/subscription"
)

// subscriptionCmd groups the commands on subscriptions.
type subscriptionCmd struct {
	Import subscriptionImportCmd `cmd:"" help:"Create subscriptions from a CSV or JSON-lines file."`
	List   subscriptionListCmd   `cmd:"" help:"List a partner's subscriptions; the people are masked."`
}

// subscriptionListCmd is 'vigia subscription list'. Personal values are masked.
type subscriptionListCmd struct {
	Partner string `required:"" placeholder:"ID" help:"The partner's id."`
	Plan    string `placeholder:"PLAN" help:"Only of this plan."`
	State   string `enum:"running,suspended,ended" default:"running" help:"running, suspended or ended."`
	After   int64  `placeholder:"SEQ" help:"Begin behind this number."`
	Limit   int    `default:"100" placeholder:"N" help:"At most so many."`
}

func (l *subscriptionListCmd) Run(ctx context.Context, a *app.App, o *output) error {
	if _, err := a.Partners.PartnerByID(ctx, partner.ID(l.Partner)); err != nil {
		return err
	}
	state := subscription.ListState(l.State)
	if l.State == "running" {
		state = subscription.ListRunning
	}
	list, _, err := a.Store.Overview.SubscriptionList(ctx, partner.ID(l.Partner), subscription.ListFilter{
		State: state, Plan: plan.ID(l.Plan), After: l.After, Limit: max(l.Limit, 1),
	})
	if err != nil {
		return err
	}
	return o.listRecords(makeRecords(list, func(s subscription.Subscription) record {
		return newRecord(
			"seq", s.Seq,
			"plan_id", s.Plan,
			"cpf", identifier.MaskValue(identifier.CPF, s.Beneficiary.CPF),
			"start_date", s.Start,
			"expiry_date", s.Expiry,
			"benefit_holder", s.Holder,
			"partner_internal_id", s.InternalID,
			"suspended_at", s.SuspendedAt,
			"ended_at", s.EndedAt,
			"created_at", s.CreatedAt,
		)
	}), "No subscription.")
}
