package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/vigiahq/vigia/client"
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
func (w webhookArg) changeEndpoint(ctx context.Context, a *app.App, o *output,
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
	names := make([]string, len(alert.Types))
	for i, t := range alert.Types {
		names[i] = string(t)
	}
	return "Types: " + strings.Join(names, ", ") + "\n\nExamples:\n" +
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
		partners[0], err = a.Partners.GetPartner(ctx, w.Partner)
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

// listenCmd is 'vigia listen': a developer's receiver needs no public address. It reads the events of a sandbox partner
// and posts them, signed as the service signs them, to a program on this machine.
type listenCmd struct {
	API     string        `name:"api" env:"VIGIA_API" default:"http://127.0.0.1:8080" placeholder:"URL" help:"Address of the partner API that is asked."`
	APIKey  string        `name:"api-key" env:"VIGIA_API_KEY" default:"" placeholder:"KEY" help:"API key of a sandbox partner. Use the environment or VIGIA_API_KEY_FILE."`
	Forward string        `name:"forward" required:"" placeholder:"URL" help:"Where the events are posted to."`
	Secret  string        `name:"secret" env:"VIGIA_WEBHOOK_SECRET" default:"" placeholder:"WHSEC" help:"The whsec_ secret to sign with. A new one is made and printed unless given."`
	After   string        `name:"after" default:"" placeholder:"CURSOR" help:"Begin behind this cursor of GET /v1/events; with 'start' at the oldest event. Unless given, at the next event to come."`
	Every   time.Duration `name:"every" default:"1s" help:"How often to ask for new events."`
}

func (listenCmd) Help() string {
	return "Posts each event once and prints its id, type and the status of the answer. Ends with Ctrl-C.\n\n" +
		"Example:\n  VIGIA_API_KEY=vg_test_... vigia listen --api https://vigia.exemplo.com.br --forward " +
		"http://localhost:3000/vigia"
}

// Run forwards events until a signal comes.
func (l *listenCmd) Run(ctx context.Context, o *output) error {
	var problems config.Problems
	if !partner.WellFormed(l.APIKey) || !strings.HasPrefix(l.APIKey, partner.SandboxKeyPrefix) {
		problems = append(
			problems,
			"--api-key: the key of a sandbox partner is needed, from VIGIA_API_KEY or VIGIA_API_KEY_FILE: reading "+
				"the events of a live one would count as having them",
		)
	}
	if to, err := url.Parse(l.Forward); err != nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https" {
		problems = append(problems, "--forward: an http or https address is needed")
	}
	ask, err := client.New(client.Config{URL: l.API, Key: l.APIKey})
	if err != nil && l.APIKey != "" {
		problems = append(problems, "--api: "+err.Error())
	}
	if len(problems) > 0 {
		return problems
	}
	secret, err := l.signingSecret()
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(o.w, "Forwarding to %s. Verify with the secret %s\n", l.Forward, secret.Reveal())
	after := l.After
	switch after {
	case "start":
		after = ""
	case "":
		if after, err = l.eachEvent(ctx, ask, "", func(client.Event) error { return nil }); err != nil {
			return err
		}
	}
	for {
		after, err = l.eachEvent(
			ctx,
			ask,
			after,
			func(e client.Event) error { return l.forwardEvent(ctx, o, secret, e) },
		)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(l.Every):
		}
	}
}

// signingSecret returns the secret of the command line, or a new one.
func (l *listenCmd) signingSecret() (webhook.Secret, error) {
	if l.Secret == "" {
		return webhook.NewSecret(rand.Reader)
	}
	secret, err := webhook.ParseSecret(l.Secret)
	if err != nil {
		return secret, config.Problems{"--secret: " + err.Error()}
	}
	return secret, nil
}

// eachEvent calls do for every event behind a cursor and returns the cursor behind the last.
func (l *listenCmd) eachEvent(
	ctx context.Context,
	ask *client.Client,
	after string,
	do func(client.Event) error,
) (string, error) {
	for page, err := range ask.EventPages(ctx, after) {
		if err != nil {
			return after, err
		}
		for _, e := range page.Events {
			if err := do(e); err != nil {
				return after, err
			}
		}
		after = page.Next
	}
	return after, nil
}

// forwardEvent posts one event and prints what came of it. A receiver that is away loses the event: it is there to be
// read again with --after.
func (l *listenCmd) forwardEvent(ctx context.Context, o *output, secret webhook.Secret, e client.Event) error {
	body, err := json.Marshal(e.Body)
	if err != nil {
		return err
	}
	outcome := webhook.SendAttempt(ctx, &http.Client{Timeout: 15 * time.Second}, webhook.Attempt{
		URL: l.Forward, EventID: e.ID, At: time.Now(), Body: body, Keys: []webhook.Key{secret},
	})
	said := fmt.Sprint(outcome.Status)
	if outcome.Failure != webhook.FailureNone {
		said = string(outcome.Failure)
	}
	_, err = fmt.Fprintf(o.w, "%s  %-32s %s -> %s\n", time.Now().Format(time.TimeOnly), e.Body.Type, e.ID, said)
	return err
}
