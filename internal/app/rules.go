package app

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/message"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/subject"
	"github.com/vigiahq/vigia/internal/subscription"
	"github.com/vigiahq/vigia/internal/web/api"
)

// Rules are what commands, partners and pages ask, over the database or over one transaction of it.
type Rules struct {
	Partners      *partner.Registry
	Services      *cyber.Services
	Plans         *plan.Catalogue
	Subscriptions *subscription.Registry
	Cases         *cyber.Cases
	Endpoints     *cyber.Endpoints
	Cover         *cyber.Cover
	Sessions      *cyber.PortalSessions
	Content       *cyber.Catalogue
	Monitoring    *cyber.Monitoring
	FirstLooks    *cyber.FirstLooks
	Messages      *message.Catalogue
	Webhooks      *alert.Endpoints
	Feed          *alert.Feed
	History       *alert.History
	Operators     *operator.Registry
	Audit         *operator.Trail
	Breaches      *cyber.Breaches
	Meter         *partner.Meter
	Figures       store.Overview
	Erasures      *subject.Erasures
}

// newRules joins the rules that remember nothing between calls to areas of the store.
func (a *App) newRules(in store.Areas) Rules {
	return Rules{
		Partners:      partner.NewRegistry(in.Partners, a.now, nil),
		Plans:         plan.NewCatalogue(in.Plans, a.now),
		Subscriptions: subscription.NewRegistry(in.Subscriptions, in.Plans, in.Partners, a.now),
		Cases:         cyber.NewCases(in.Cases, a.now),
		Endpoints:     cyber.NewEndpoints(in.Devices, a.now, nil),
		Cover:         cyber.NewCover(in.Cover),
		Sessions:      cyber.NewPortalSessions(in.Subjects, in.Partners, a.Keys, a.now, nil),
		Monitoring:    cyber.NewMonitoring(in.Monitoring, in.Partners, a.Leaks.Library, a.Keys.Fingerprint, a.now),
		FirstLooks:    cyber.NewFirstLooks(in.Monitoring, in.Partners, a.now),
		Messages:      message.NewCatalogue(in.Alerts),
		Webhooks:      alert.NewEndpoints(in.Alerts, a.now, nil),
		Feed:          alert.NewEventFeed(in.Alerts),
		History:       alert.NewHistory(in.Alerts, in.Partners),
		Audit:         operator.NewTrail(in.Audit, a.now),
		Breaches:      cyber.NewBreaches(in.Breaches),
		Meter:         partner.NewMeter(in.Partners, a.now),
		Figures:       in.Overview,
		Erasures:      subject.NewErasures(in.Subjects, a.now),
	}
}

// makeLastingRules adds the rules that remember something between calls: made once, and over the
// store of a transaction inside one.
func (a *App) makeLastingRules() {
	a.Services = cyber.NewServices(a.Store.Services, a.now)
	a.Content = cyber.NewCatalogue(a.Store.Advice, a.now)
	a.Operators = operator.NewRegistry(a.Store.Operators, a.isExposedPassword, a.now)
}

// rulesWithin returns the rules whose changes are committed together, with tx.
func (a *App) rulesWithin(tx store.Tx) Rules {
	in := a.newRules(tx.Areas)
	in.Services, in.Content = a.Services.WithStore(tx.Services), a.Content.WithStore(tx.Advice)
	in.Operators = a.Operators.WithStore(tx.Operators)
	return in
}

// forPartners returns the rules of the partner API.
func (r Rules) forPartners(passwords api.Passwords, persons *cyber.Persons) api.Rules {
	return api.Rules{
		Events:        r.Feed,
		Messages:      r.Messages,
		Webhooks:      r.Webhooks,
		Passwords:     passwords,
		Subscriptions: r.Subscriptions,
		Monitoring:    r.Monitoring,
		Services:      r.Services,
		Cases:         r.Cases,
		Endpoints:     r.Endpoints,
		Cover:         r.Cover,
		Sessions:      r.Sessions,
		Persons:       persons,
		Breaches:      r.Breaches,
		History:       r.History,
		Keys:          r.Partners,
		FirstLooks:    r.FirstLooks,
		Meter:         r.Meter,
		Figures:       r.Figures,
		Audit:         r.Audit,
		Erasures:      r.Erasures,
	}
}

// ledger keeps answers of the partner API together with the effects of their requests.
type ledger struct {
	app       *App
	passwords api.Passwords
	persons   *cyber.Persons
}

// Once runs the store's Once with the rules bound to its transaction.
func (l ledger) Once(
	ctx context.Context, id partner.ID, c partner.RequestClaim, work func(in *api.Rules) (partner.Answer, error),
) (partner.Answer, bool, error) {
	return l.app.Store.Answers.AnswerOnce(ctx, id, c, func(tx store.Tx) (partner.Answer, error) {
		in := l.app.rulesWithin(tx).forPartners(l.passwords, l.persons.WithStore(tx.Advice))
		return work(&in)
	})
}

// NewPersons returns the rules of advice and score. missed is called with the error when a day's score could not be
// stored, and may be nil.
func (a *App) NewPersons(missed func(context.Context, error)) *cyber.Persons {
	return cyber.NewPersons(a.Store.Advice, a.Content, a.now, missed)
}
