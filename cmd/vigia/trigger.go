package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/platform/config"
)

// triggerCmd is 'vigia trigger', which shows a developer's receiver an event that is hard to cause.
type triggerCmd struct {
	partnerAPI
	receiverFlags
	Type    string `arg:"" help:"Type of the event, such as monitoring.leak_detected."`
	Forward string `name:"forward" placeholder:"URL" help:"Post it from this machine to this address; no key is needed then."`
	Webhook string `name:"webhook" placeholder:"ID" help:"Only to this webhook; unless given, to all of the partner."`
}

func (triggerCmd) Help() string {
	return "Sends a signed sample of any type of event: through the service to the partner's webhooks, or with " +
		"--forward straight to a\nprogram on this machine. The sample names no person. Exit code 1 when it is not " +
		"taken.\n\nTypes: " +
		alert.TypeNames() + "\n\nExamples:\n" +
		"  vigia trigger case.rated --forward http://localhost:3000/vigia\n" +
		"  VIGIA_API_KEY=vg_test_... vigia trigger monitoring.leak_detected"
}

// errNotTaken ends a command whose event was refused.
var errNotTaken = errors.New("the event was not taken")

func (t *triggerCmd) Run(ctx context.Context, o *output) error {
	if err := alert.CheckType(alert.Type(t.Type)); err != nil {
		return err
	}
	if t.Forward != "" {
		return t.postSample(ctx, o)
	}
	if t.APIKey == "" {
		return config.Problems{"--api-key: a key is needed, from VIGIA_API_KEY or VIGIA_API_KEY_FILE; or name an " +
			"address with --forward"}
	}
	ask, err := client.New(client.Config{URL: t.API, Key: t.APIKey})
	if err != nil {
		return config.Problems{"--api: " + err.Error()}
	}
	ids := []string{t.Webhook}
	if t.Webhook == "" {
		if ids, err = listWebhookIDs(ctx, ask); err != nil {
			return err
		}
	}
	var rows []record
	taken := true
	for _, id := range ids {
		try, err := ask.TestWebhook(ctx, id, client.WebhookTestRequest{Type: client.EventType(t.Type)})
		if err != nil {
			return err
		}
		taken = taken && try.Delivered
		rows = append(rows, newRecord(
			"webhook", id,
			"event_id", try.EventID,
			"delivered", try.Delivered,
			"status", try.Status,
			"failure", try.Failure,
		))
	}
	err = o.listRecords(rows, "No webhook yet: POST /v1/webhooks makes one, or name an address with --forward.")
	if err == nil && !taken {
		return errNotTaken
	}
	return err
}

// listWebhookIDs returns the webhooks of the key's partner.
func listWebhookIDs(ctx context.Context, ask *client.Client) ([]string, error) {
	all, err := ask.ListWebhooks(ctx)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(all))
	for i, w := range all {
		ids[i] = w.ID
	}
	return ids, nil
}

// postSample posts a sample from this machine.
func (t *triggerCmd) postSample(ctx context.Context, o *output) error {
	if problems := checkForward(t.Forward); problems != nil {
		return problems
	}
	secret, err := t.signingSecret()
	if err != nil {
		return err
	}
	body, err := alert.SampleBody(alert.Type(t.Type), time.Now())
	if err != nil {
		return err
	}
	to := forwarder{url: t.Forward, secret: secret, out: o, client: &http.Client{Timeout: forwardTimeout}}
	id := string(alert.NewEventID())
	outcome := to.post(ctx, id, body)
	taken := webhook.JudgeOutcome(outcome).Action == webhook.Delivered
	err = o.showRecord(newRecord(
		"event_id", id,
		"delivered", taken,
		"said", explainOutcome(outcome),
		"secret", secret.Reveal(),
	))
	if err == nil && !taken {
		return errNotTaken
	}
	return err
}
