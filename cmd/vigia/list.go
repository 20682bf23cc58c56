package main

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/message"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/subscription"
)

// Lists that only read, for scripts. What is done with such things is done in the console and through the API.

type (
	// eventCmd groups the commands on events.
	eventCmd struct {
		List eventListCmd `cmd:"" help:"List a partner's events, or the deliveries and attempts of one."`
	}

	// caseCmd groups the commands on cases.
	caseCmd struct {
		List caseListCmd `cmd:"" help:"List the newest cases."`
	}

	// assetCmd groups the commands on watched values.
	assetCmd struct {
		List assetListCmd `cmd:"" help:"List the watched values of a person, masked."`
	}

	// messageCmd groups the commands on message texts.
	messageCmd struct {
		List messageListCmd `cmd:"" help:"List the texts, and who wrote each."`
	}

	// subscriptionCmd groups the commands on subscriptions.
	subscriptionCmd struct {
		Import subscriptionImportCmd `cmd:"" help:"Create subscriptions from a CSV or JSON-lines file."`
		List   subscriptionListCmd   `cmd:"" help:"List a partner's subscriptions; the people are masked."`
	}
)

// eventListCmd is 'vigia event list'; with --event it shows the deliveries of that event instead.
type eventListCmd struct {
	Partner string `required:"" placeholder:"ID" help:"The partner's id."`
	Event   string `placeholder:"ID" help:"Show where this event went, try by try."`
	After   int64  `placeholder:"SEQ" help:"Begin behind this number."`
	Limit   int    `default:"100" placeholder:"N" help:"Events at most, up to 1000."`
}

// Help shows examples.
func (eventListCmd) Help() string {
	return "Examples:\n  vigia event list --partner pt_... --after 2500\n  vigia event list --partner pt_... --event evt_..."
}

// Run lists events or deliveries.
func (l *eventListCmd) Run(ctx context.Context, a *app.App, o *output) error {
	if l.Event != "" {
		deliveries, tries, err := a.History.Deliveries(ctx, partner.ID(l.Partner), alert.EventID(l.Event))
		if err != nil {
			return err
		}
		return o.showRecord(newRecord("deliveries", makeRecords(deliveries, func(d alert.DeliveryStatus) record {
			return newRecord("webhook", d.Endpoint, "state", d.State, "attempts", d.Attempts, "next_at", d.NextAt, "finished_at", d.FinishedAt)
		}), "attempts", makeRecords(tries, func(t alert.AttemptLog) record {
			return newRecord("webhook", t.Endpoint, "at", t.At, "status", t.Status, "failure", t.Failure, "milliseconds", t.Duration.Milliseconds(), "answer", t.Answer)
		})))
	}
	list, err := a.History.ListEvents(ctx, partner.ID(l.Partner), l.After, l.Limit)
	if err != nil {
		return err
	}
	return o.listRecords(makeRecords(list, func(e alert.Kept) record {
		return newRecord("seq", e.Seq, "id", e.ID, "at", e.At, "type", e.Type, "body", e.Body)
	}), "No event.", "seq", "id", "at", "type")
}

// caseListCmd is 'vigia case list'. Its flags narrow the list and can be combined.
type caseListCmd struct {
	Partner  string `placeholder:"ID" help:"Only of this partner."`
	Service  string `placeholder:"ID" help:"Only for this service."`
	Status   string `placeholder:"STATUS" help:"Only in this status, such as em-andamento."`
	Assignee string `placeholder:"NAME" help:"Only of this person."`
	Open     bool   `help:"Only those that are not closed."`
	Limit    int    `default:"50" help:"At most so many."`
}

// Help shows examples.
func (caseListCmd) Help() string {
	return "Examples:\n  vigia case list --open --service sv_ajuda_phishing\n  vigia case list --status aguardando-cliente --json"
}

// Run lists cases.
func (l *caseListCmd) Run(ctx context.Context, a *app.App, o *output) (err error) {
	f := cyber.CaseFilter{
		Partner: partner.ID(l.Partner), Service: cyber.ServiceID(l.Service), Assignee: l.Assignee, OpenOnly: l.Open, Limit: max(l.Limit, 1),
	}
	if l.Status != "" {
		if f.Status, err = cyber.ParseCaseStatus(l.Status); err != nil {
			return err
		}
	}
	list, err := a.Cases.ListCases(ctx, f)
	if err != nil {
		return err
	}
	now := time.Now()
	return o.listRecords(makeRecords(list, func(c cyber.Case) record {
		due, _ := c.Clock.Due()
		return newRecord("case_id", c.ID, "partner_id", c.Partner, "service_id", c.Service, "status", c.Status, "assignee", c.Assignee, "booked", c.Booked,
			"time_used", c.Clock.UsedAt(now).Round(time.Second), "time_target", c.Clock.Target, "due", due, "late", c.Clock.Late(now),
			"created_at", c.CreatedAt, "changed_at", c.ChangedAt)
	}), "No case.", "case_id", "created_at", "status", "service_id", "assignee", "due", "late")
}

// assetListCmd is 'vigia asset list'. Values are masked, since terminals are logged.
type assetListCmd struct {
	Partner string `required:"" placeholder:"PARTNER" help:"The partner's id."`
	User    string `required:"" name:"user-hash" placeholder:"HASH" help:"User hash."`
}

// Run lists a person's values.
func (l *assetListCmd) Run(ctx context.Context, a *app.App, o *output) error {
	user, err := partner.ParseUserHash("user-hash", l.User)
	if err != nil {
		return err
	}
	if _, err := a.Partners.GetPartner(ctx, partner.ID(l.Partner)); err != nil {
		return err
	}
	assets, err := a.Monitoring.ListAssets(ctx, cyber.AssetScope{Partner: partner.ID(l.Partner), User: user})
	if err != nil {
		return err
	}
	return o.listRecords(makeRecords(assets, func(v cyber.Asset) record {
		return newRecord("id", v.ID, "type", v.Kind, "masked", identifier.MaskValue(v.Kind, v.Value), "status", v.Status, "added_at", v.AddedAt)
	}), "Nothing is watched for this person.")
}

// messageListCmd is 'vigia message list'. With --partner it shows the texts that the partner's people get.
type messageListCmd struct {
	Partner string `placeholder:"PARTNER" help:"As they count for this partner."`
	Lang    string `default:"pt-BR" enum:"pt-BR,es,en" help:"pt-BR, es or en."`
}

// Run lists the texts.
func (l *messageListCmd) Run(ctx context.Context, a *app.App, o *output) error {
	all, err := a.Messages.ListTemplates(ctx, partner.ID(l.Partner))
	if err != nil {
		return err
	}
	var rows []record
	for _, t := range all {
		if string(t.Language) == l.Lang {
			rows = append(rows, viewMessage(t))
		}
	}
	return o.listRecords(rows, "No text.", "event", "channel", "lang", "origin")
}

// viewMessage returns a message text as a record of output; origin says who wrote it.
func viewMessage(t message.Template) record {
	return newRecord("event", t.Event, "channel", t.Channel, "lang", t.Language, "origin", t.Origin, "subject", t.Subject, "text", t.Text)
}

// subscriptionListCmd is 'vigia subscription list'. Personal values are masked.
type subscriptionListCmd struct {
	Partner string `required:"" placeholder:"ID" help:"The partner's id."`
	Plan    string `placeholder:"PLAN" help:"Only of this plan."`
	State   string `enum:"running,suspended,ended" default:"running" help:"running, suspended or ended."`
	After   int64  `placeholder:"SEQ" help:"Begin behind this number."`
	Limit   int    `default:"100" placeholder:"N" help:"At most so many."`
}

// Run lists subscriptions.
func (l *subscriptionListCmd) Run(ctx context.Context, a *app.App, o *output) error {
	if _, err := a.Partners.GetPartner(ctx, partner.ID(l.Partner)); err != nil {
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
		return newRecord("seq", s.Seq, "plan_id", s.Plan, "cpf", identifier.MaskValue(identifier.CPF, s.Beneficiary.CPF), "start_date", s.Start, "expiry_date", s.Expiry,
			"benefit_holder", s.Holder, "partner_internal_id", s.InternalID, "suspended_at", s.SuspendedAt, "ended_at", s.EndedAt, "created_at", s.CreatedAt)
	}), "No subscription.")
}
