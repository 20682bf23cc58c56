package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/config"
)

// webhookCmd groups the commands on the endpoints that events are pushed to.
type webhookCmd struct {
	Create  webhookCreateCmd  `cmd:"" help:"Push a partner's events to an address; its secret is shown once."`
	List    webhookListCmd    `cmd:"" help:"List the endpoints of a partner, or of all."`
	Show    webhookShowCmd    `cmd:"" help:"Show one endpoint and its public keys."`
	Test    webhookTestCmd    `cmd:"" help:"Send a webhook.test now and show what came of it."`
	Rotate  webhookRotateCmd  `cmd:"" help:"Replace the secret and the signing key; the old ones sign too for 24 hours."`
	Enable  webhookEnableCmd  `cmd:"" help:"Push again, first what was missed."`
	Disable webhookDisableCmd `cmd:"" help:"Stop pushing; events are held until enable."`
	Delete  webhookDeleteCmd  `cmd:"" help:"Forget an endpoint and its deliveries; the events stay."`
}

// viewWebhook shows the address without its query: receivers keep tokens there.
func viewWebhook(e alert.Endpoint) record {
	url, _, _ := strings.Cut(e.URL, "?")
	return newRecord(
		"id", e.ID,
		"partner_id", e.Partner,
		"url", url,
		"types", e.Types,
		"state", e.State,
		"reason", e.Reason,
		"failing_since", e.FailingSince,
		"public_keys", e.PublicKeys(time.Now()),
		"created_at", e.CreatedAt,
	)
}

// webhookArg names an endpoint.
type webhookArg struct {
	ID string `arg:"" name:"webhook" help:"The endpoint's id."`
}

// endpoint finds it.
func (w webhookArg) endpoint(ctx context.Context, a *app.App) (alert.Endpoint, error) {
	return a.Webhooks.FindEndpoint(ctx, alert.EndpointID(w.ID))
}

// changeEndpoint finds it and shows what became of it.
func (w webhookArg) changeEndpoint(
	ctx context.Context, a *app.App, o *output,
	change func(context.Context, partner.ID, alert.EndpointID) (alert.Endpoint, error),
) error {
	e, err := w.endpoint(ctx, a)
	if err != nil {
		return err
	}
	found, err := change(ctx, e.Partner, e.ID)
	if err != nil {
		return err
	}
	return o.showRecord(viewWebhook(found))
}

// webhookCreateCmd is 'vigia webhook create'. The secret is printed once.
type webhookCreateCmd struct {
	Partner partner.ID `required:"" placeholder:"ID" help:"The partner's id."`
	URL     string     `name:"url" required:"" placeholder:"URL" help:"Where to push: https, or http inside --webhook-allow."`
	Types   []string   `placeholder:"TYPE" help:"Types of events, separated by commas; all unless given."`
	config.Outgoing
}

func (webhookCreateCmd) Help() string {
	return "Types: " + alert.TypeNames() + "\n\nExamples:\n" +
		"  vigia webhook create --partner pt_... --url https://partner.example/vigia\n" +
		"  vigia webhook create --partner pt_... --url http://10.1.2.3:9000/ --webhook-allow 10.1.0.0/16 --types " +
		"monitoring.leak_detected --json"
}

func (w *webhookCreateCmd) Run(ctx context.Context, a *app.App, o *output) error {
	out, err := app.OpenOutgoing(w.Outgoing)
	if err != nil {
		return err
	}
	e, err := a.Webhooks.CreateEndpoint(ctx, w.Partner, w.URL, w.Types, out.Guard)
	if err != nil {
		return err
	}
	return o.showRecord(
		viewWebhook(e).withPairs("secret", e.Secret()),
		"The secret is shown this once. Try it: vigia webhook test "+string(e.ID),
	)
}

// webhookListCmd is 'vigia webhook list', for one partner or for all.
type webhookListCmd struct {
	Partner partner.ID `placeholder:"ID" help:"Only this partner's."`
}

func (w *webhookListCmd) Run(ctx context.Context, a *app.App, o *output) (err error) {
	partners := make([]partner.Partner, 1)
	if w.Partner == "" {
		partners, err = a.Partners.ListPartners(ctx)
	} else {
		partners[0], err = a.Partners.PartnerByID(ctx, w.Partner)
	}
	if err != nil {
		return err
	}
	var rows []record
	for _, p := range partners {
		list, err := a.Webhooks.ListEndpoints(ctx, p.ID)
		if err != nil {
			return err
		}
		rows = append(rows, makeRecords(list, viewWebhook)...)
	}
	return o.listRecords(
		rows,
		"No webhook yet. Make one: vigia webhook create --partner ID --url URL",
		"id",
		"partner_id",
		"state",
		"reason",
		"types",
		"url",
	)
}

// webhookShowCmd is 'vigia webhook show', which prints the public keys too and never the secret.
type webhookShowCmd struct{ webhookArg }

func (w *webhookShowCmd) Run(ctx context.Context, a *app.App, o *output) error {
	found, err := w.endpoint(ctx, a)
	if err != nil {
		return err
	}
	return o.showRecord(viewWebhook(found))
}

// webhookTestCmd is 'vigia webhook test'. It sends from this machine, so it needs the flags of outgoing connections.
type webhookTestCmd struct {
	webhookArg
	Type string `default:"webhook.test" help:"The type of event to send a sample of."`
	config.Outgoing
}

func (webhookTestCmd) Help() string {
	return "Sends once from this machine, whatever the endpoint's state and filter. Exit code 1 when the receiver " +
		"does not take it.\n\n" +
		"Example:\n  vigia webhook test whe_... --type monitoring.leak_detected --webhook-allow 10.1.0.0/16"
}

func (w *webhookTestCmd) Run(ctx context.Context, a *app.App, o *output) error {
	out, err := app.OpenOutgoing(w.Outgoing)
	if err != nil {
		return err
	}
	e, err := w.endpoint(ctx, a)
	if err != nil {
		return err
	}
	outcome, event, err := a.Webhooks.SendTestEvent(ctx, e.Partner, e.ID, alert.Type(w.Type), out.Webhooks)
	if err != nil {
		return err
	}
	taken := webhook.JudgeOutcome(outcome).Action == webhook.Delivered
	err = o.showRecord(
		newRecord("event_id", event, "delivered", taken, "status", outcome.Status, "failure", outcome.Failure,
			"milliseconds", outcome.Duration.Milliseconds(), "answer", outcome.Answer),
	)
	if err == nil && !taken {
		return fmt.Errorf("the receiver did not take the test")
	}
	return err
}

// webhookRotateCmd is 'vigia webhook rotate'. The old keys sign too for 24 hours; --now ends stolen ones.
type webhookRotateCmd struct {
	webhookArg
	Now bool `help:"The old keys stop signing at once: for stolen ones."`
}

func (w *webhookRotateCmd) Run(ctx context.Context, a *app.App, o *output) error {
	overlap, note := webhook.RotationOverlap, "The old secret is valid beside the new one for 24 hours."
	if w.Now {
		overlap, note = 0, "The old secret is not valid any more."
	}
	e, err := w.endpoint(ctx, a)
	if err != nil {
		return err
	}
	if e, err = a.Webhooks.RotateKeys(ctx, e.Partner, e.ID, overlap); err != nil {
		return err
	}
	return o.showRecord(viewWebhook(e).withPairs("secret", e.Secret()), note)
}

// webhookEnableCmd is 'vigia webhook enable', which pushes what was missed first.
type webhookEnableCmd struct{ webhookArg }

func (w *webhookEnableCmd) Run(ctx context.Context, a *app.App, o *output) error {
	return w.changeEndpoint(ctx, a, o, a.Webhooks.EnableEndpoint)
}

// webhookDisableCmd is 'vigia webhook disable', after which events are held until enable.
type webhookDisableCmd struct{ webhookArg }

func (w *webhookDisableCmd) Run(ctx context.Context, a *app.App, o *output) error {
	return w.changeEndpoint(ctx, a, o, a.Webhooks.DisableEndpoint)
}

// webhookDeleteCmd is 'vigia webhook delete', which deletes the deliveries too. The events stay.
type webhookDeleteCmd struct{ webhookArg }

func (w *webhookDeleteCmd) Run(ctx context.Context, a *app.App, o *output) error {
	e, err := w.endpoint(ctx, a)
	if err != nil {
		return err
	}
	if err := a.Webhooks.DeleteEndpoint(ctx, e.Partner, e.ID); err != nil {
		return err
	}
	return o.showRecord(newRecord("deleted", e.ID))
}
