package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/webhook"
)

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

// webhookView is an endpoint as machines read it. The address is shown without its query: receivers keep tokens there.
type webhookView struct {
	ID           string   `json:"id"`
	Partner      string   `json:"partner_id"`
	URL          string   `json:"url"`
	Types        []string `json:"types"`
	State        string   `json:"state"`
	Reason       string   `json:"reason,omitempty"`
	FailingSince string   `json:"failing_since,omitempty"`
	PublicKeys   []string `json:"public_keys"`
	CreatedAt    string   `json:"created_at"`
}

func viewWebhook(e alert.Endpoint) webhookView {
	types := make([]string, len(e.Types))
	for i, t := range e.Types {
		types[i] = string(t)
	}
	url, _, _ := strings.Cut(e.URL, "?")
	return webhookView{
		ID: string(e.ID), Partner: string(e.Partner), URL: url, Types: types, State: string(e.State), Reason: string(e.Reason),
		FailingSince: stamp(e.FailingSince), PublicKeys: e.PublicKeys(time.Now()), CreatedAt: stamp(e.CreatedAt),
	}
}

func (v webhookView) typesText() string {
	if len(v.Types) == 0 {
		return "all"
	}
	return strings.Join(v.Types, ",")
}

func (v webhookView) stateText() string {
	if v.Reason != "" {
		return v.State + " (" + v.Reason + ")"
	}
	return v.State
}

func (v webhookView) write(w io.Writer) {
	_, _ = fmt.Fprintf(w, "Webhook     %s\nPartner     %s\nURL         %s\nTypes       %s\nState       %s\nFailing     %s\nPublic keys %s\nCreated     %s\n",
		v.ID, v.Partner, v.URL, v.typesText(), v.stateText(), orDash(v.FailingSince), strings.Join(v.PublicKeys, " "), v.CreatedAt)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func (o *output) webhook(e alert.Endpoint) error {
	v := viewWebhook(e)
	return o.print(v, v.write)
}

// secretOf prints an endpoint with its secret, the one time it can be seen.
func (o *output) secretOf(e alert.Endpoint, note string) error {
	view := struct {
		webhookView
		Secret string `json:"secret"`
	}{viewWebhook(e), e.Secret()}
	return o.print(view, func(w io.Writer) {
		view.write(w)
		_, _ = fmt.Fprintf(w, "Secret      %s\n\n%s\n", view.Secret, note)
	})
}

// webhookArg names an endpoint.
type webhookArg struct {
	ID string `arg:"" name:"webhook" help:"The endpoint's id."`
}

// with opens the service and finds the endpoint.
func (a webhookArg) with(ctx context.Context, c *config.Common, fn func(s *app.App, e alert.Endpoint) error) error {
	return withApp(ctx, c, func(s *app.App) error {
		e, err := s.Webhooks.ByID(ctx, alert.EndpointID(a.ID))
		if err != nil {
			return err
		}
		return fn(s, e)
	})
}

type webhookCreateCmd struct {
	Partner string   `required:"" placeholder:"ID" help:"The partner's id."`
	URL     string   `name:"url" required:"" placeholder:"URL" help:"Where to push: https, or http inside --webhook-allow."`
	Types   []string `placeholder:"TYPE" help:"Types of events, separated by commas; all unless given."`
	config.Outgoing
}

// Help shows examples.
func (webhookCreateCmd) Help() string {
	names := make([]string, len(alert.Types))
	for i, t := range alert.Types {
		names[i] = string(t)
	}
	return "Types: " + strings.Join(names, ", ") + "\n\nExamples:\n" +
		"  vigia webhook create --partner pt_... --url https://partner.example/vigia\n" +
		"  vigia webhook create --partner pt_... --url http://10.1.2.3:9000/ --webhook-allow 10.1.0.0/16 --types monitoring.leak_detected --json"
}

// Run creates an endpoint.
func (w *webhookCreateCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	if err := w.Outgoing.Check(); err != nil {
		return err
	}
	guard, err := app.NewGuard(w.Outgoing)
	if err != nil {
		return err
	}
	return withApp(ctx, c, func(a *app.App) error {
		e, err := a.Webhooks.Create(ctx, partner.ID(w.Partner), w.URL, w.Types, guard)
		if err != nil {
			return err
		}
		return o.secretOf(e, "The secret is shown this once. Try it: vigia webhook test "+string(e.ID))
	})
}

type webhookListCmd struct {
	Partner string `placeholder:"ID" help:"Only this partner's."`
}

// Run lists endpoints.
func (w *webhookListCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		partners := []partner.Partner{{ID: partner.ID(w.Partner)}}
		var err error
		if w.Partner == "" {
			partners, err = a.Partners.Partners(ctx)
		} else {
			partners[0], err = a.Partners.Partner(ctx, partners[0].ID)
		}
		if err != nil {
			return err
		}
		t := table[webhookView]{heading: "WEBHOOK\tPARTNER\tSTATE\tTYPES\tURL", none: "No webhook yet. Make one: vigia webhook create --partner ID --url URL"}
		for _, p := range partners {
			list, err := a.Webhooks.Of(ctx, p.ID)
			if err != nil {
				return err
			}
			for _, e := range list {
				v := viewWebhook(e)
				t.add(v, v.ID, v.Partner, v.stateText(), v.typesText(), v.URL)
			}
		}
		return t.print(o)
	})
}

type webhookShowCmd struct{ webhookArg }

// Run shows an endpoint.
func (w *webhookShowCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return w.with(ctx, c, func(_ *app.App, e alert.Endpoint) error { return o.webhook(e) })
}

type webhookTestCmd struct {
	webhookArg
	config.Outgoing
}

// Help shows examples.
func (webhookTestCmd) Help() string {
	return "Sends once from this machine, whatever the endpoint's state and filter. Exit code 1 when the receiver does not take it.\n\n" +
		"Example:\n  vigia webhook test whe_... --webhook-allow 10.1.0.0/16"
}

// Run sends a test.
func (w *webhookTestCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	if err := w.Outgoing.Check(); err != nil {
		return err
	}
	client, err := app.NewWebhookClient(w.Outgoing)
	if err != nil {
		return err
	}
	return w.with(ctx, c, func(s *app.App, e alert.Endpoint) error {
		outcome, event, err := s.Webhooks.Test(ctx, e.Partner, e.ID, client)
		if err != nil {
			return err
		}
		taken := webhook.Judge(outcome).Action == webhook.Delivered
		view := map[string]any{
			"event_id": event, "delivered": taken, "status": outcome.Status, "failure": outcome.Failure,
			"milliseconds": outcome.Duration.Milliseconds(), "answer": outcome.Answer,
		}
		err = o.print(view, func(out io.Writer) {
			_, _ = fmt.Fprintf(out, "Event      %s\nDelivered  %t\nStatus     %d\nFailure    %s\nTook       %s\nAnswer     %s\n",
				event, taken, outcome.Status, orDash(string(outcome.Failure)), outcome.Duration.Round(time.Millisecond), orDash(outcome.Answer))
		})
		if err == nil && !taken {
			return fmt.Errorf("the receiver did not take the test")
		}
		return err
	})
}

type webhookRotateCmd struct {
	webhookArg
	Now bool `help:"The old keys stop signing at once: for stolen ones."`
}

// Run rotates the keys.
func (w *webhookRotateCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	overlap, note := webhook.RotationOverlap, "The old secret is valid beside the new one for 24 hours."
	if w.Now {
		overlap, note = 0, "The old secret is not valid any more."
	}
	return w.with(ctx, c, func(s *app.App, e alert.Endpoint) error {
		e, err := s.Webhooks.Rotate(ctx, e.Partner, e.ID, overlap)
		if err != nil {
			return err
		}
		return o.secretOf(e, note)
	})
}

type webhookEnableCmd struct{ webhookArg }

// Run enables an endpoint.
func (w *webhookEnableCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return w.with(ctx, c, func(s *app.App, e alert.Endpoint) error {
		e, err := s.Webhooks.Enable(ctx, e.Partner, e.ID)
		if err != nil {
			return err
		}
		return o.webhook(e)
	})
}

type webhookDisableCmd struct{ webhookArg }

// Run disables an endpoint.
func (w *webhookDisableCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return w.with(ctx, c, func(s *app.App, e alert.Endpoint) error {
		e, err := s.Webhooks.Disable(ctx, e.Partner, e.ID)
		if err != nil {
			return err
		}
		return o.webhook(e)
	})
}

type webhookDeleteCmd struct{ webhookArg }

// Run deletes an endpoint.
func (w *webhookDeleteCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return w.with(ctx, c, func(s *app.App, e alert.Endpoint) error {
		if err := s.Webhooks.Delete(ctx, e.Partner, e.ID); err != nil {
			return err
		}
		return o.print(map[string]string{"deleted": string(e.ID)}, func(out io.Writer) { _, _ = fmt.Fprintln(out, "Deleted", e.ID) })
	})
}
