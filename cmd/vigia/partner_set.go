package main

import (
	"context"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/partner"
)

// partnerSetCmd is 'vigia partner set'. A nil flag leaves its setting as it is.
type partnerSetCmd struct {
	partnerArg
	Name              *string     `placeholder:"NAME" help:"New name."`
	Rate              *int        `placeholder:"N" help:"Requests a second; 0 means 200."`
	Burst             *int        `placeholder:"N" help:"Requests at once; 0 means twice the rate."`
	DefaultPlan       *string     `placeholder:"PLAN" help:"Plan that covers people without a subscription; '' means none."`
	MaskCards         *bool       `negatable:"" help:"Answer card numbers with all but the last four digits hidden."`
	People            *int        `placeholder:"N" help:"How many people the contract covers, at least 1 at a live partner; a larger number lets 3 more values for each be looked up at once."`
	FirstLooksPerHour *string     `placeholder:"N" help:"New values that are looked up in past breaches in an hour; 0 stops them, auto goes by the number of people."`
	SandboxOf         *partner.ID `placeholder:"PARTNER" help:"The live partner whose people may switch to this sandbox partner in the console; '' means none."`
	Site              []string    `placeholder:"HOST" help:"Hosts of the partner's own, in place of those before; '' means none. A stolen credential for one is critical."`
	WatchSite         []string    `placeholder:"HOST" help:"Hosts of others to watch for the partner, in place of those before; '' means none. Everybody whose credential for one was taken is told."`
}

func (partnerSetCmd) Help() string {
	return "Examples:\n  vigia partner set pt_... --rate 500 --mask-cards\n  vigia partner set pt_... --site " +
		"banco.com.br --site app.banco.com.br"
}

// Run changes what was given and leaves the rest.
func (p *partnerSetCmd) Run(ctx context.Context, a *app.App, o *output) error {
	var perHour *int
	if p.FirstLooksPerHour != nil {
		n, err := partner.ParseLooksPerHour(*p.FirstLooksPerHour)
		if err != nil {
			return err
		}
		perHour = &n
	}
	found, err := a.Partners.UpdatePartner(ctx, p.ID, func(q *partner.Partner) {
		setIfGiven(&q.Name, p.Name)
		setIfGiven(&q.Settings.RatePerSecond, p.Rate)
		setIfGiven(&q.Settings.Burst, p.Burst)
		setIfGiven(&q.Settings.DefaultPlan, p.DefaultPlan)
		setIfGiven(&q.Settings.MaskCards, p.MaskCards)
		setIfGiven(&q.Settings.People, p.People)
		setIfGiven(&q.Settings.FirstLooksPerHour, perHour)
		setIfGiven(&q.Settings.SandboxOf, p.SandboxOf)
		if p.Site != nil {
			q.Settings.Sites = partner.JoinSiteList(p.Site)
		}
		if p.WatchSite != nil {
			q.Settings.WatchedSites = partner.JoinSiteList(p.WatchSite)
		}
	})
	if err != nil {
		return err
	}
	return o.showRecord(viewPartner(found))
}

// setIfGiven copies a flag's value when it was given.
func setIfGiven[T any](to *T, given *T) {
	if given != nil {
		*to = *given
	}
}
