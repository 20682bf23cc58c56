package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/config"
)

// partnerAPI is where a developer's command finds the partner API, and with which key.
type partnerAPI struct {
	API    string `name:"api" env:"VIGIA_API" default:"http://127.0.0.1:8080" placeholder:"URL" help:"Address of the partner API that is asked."`
	APIKey string `name:"api-key" env:"VIGIA_API_KEY" default:"" placeholder:"KEY" help:"API key of a sandbox partner. Use the environment or VIGIA_API_KEY_FILE."`
}

// receiverFlags name the program that gets events, and the secret that it verifies them with.
type receiverFlags struct {
	Secret string `name:"secret" env:"VIGIA_WEBHOOK_SECRET" default:"" placeholder:"WHSEC" help:"The whsec_ secret to sign with. A new one is made and printed unless given."`
}

// signingSecret returns the secret of the command line, or a new one.
func (f receiverFlags) signingSecret() (webhook.Secret, error) {
	if f.Secret == "" {
		return webhook.NewSecret(rand.Reader)
	}
	secret, err := webhook.ParseSecret(f.Secret)
	if err != nil {
		return secret, config.Problems{"--secret: " + err.Error()}
	}
	return secret, nil
}

// checkForward returns what is wrong with the address of a receiver.
func checkForward(address string) config.Problems {
	to, err := url.Parse(address)
	if err != nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https" {
		return config.Problems{"--forward: an http or https address is needed"}
	}
	return nil
}

// listenCmd is 'vigia listen': a developer's receiver needs no public address. It reads the events of a sandbox partner
// and posts them, signed as the service signs them, to a program on this machine.
type listenCmd struct {
	partnerAPI
	receiverFlags
	Forward string        `name:"forward" required:"" placeholder:"URL" help:"Where the events are posted to."`
	After   string        `name:"after" default:"" placeholder:"CURSOR" help:"Begin behind this cursor of GET /v1/events; with 'start' at the oldest event. Unless given, at the next event to come."`
	Every   time.Duration `name:"every" default:"1s" help:"How often to ask for new events."`
}

// leastEvery keeps a mistyped wait from asking without a pause.
const leastEvery = 100 * time.Millisecond

func (listenCmd) Help() string {
	return "Posts the events in order and prints the id and type of each and the status of the answer. While the " +
		"program cannot be\nreached, it is tried again until it can; an answer that is no success is tried again " +
		"four times. Ends with Ctrl-C.\n\n" +
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
	if l.Every < leastEvery {
		problems = append(problems, "--every: at least "+leastEvery.String()+": each time is a request to the service")
	}
	problems = append(problems, checkForward(l.Forward)...)
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
		if after, err = eachEvent(ctx, ask, "", func(client.Event) error { return nil }); err != nil {
			return err
		}
	}
	to := forwarder{url: l.Forward, secret: secret, out: o, client: &http.Client{Timeout: forwardTimeout}}
	for {
		after, err = eachEvent(ctx, ask, after, func(e client.Event) error { return to.forwardEvent(ctx, e) })
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

// eachEvent calls do for every event behind a cursor and returns the cursor behind the last.
func eachEvent(ctx context.Context, ask *client.Client, after string, do func(client.Event) error) (string, error) {
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

const (
	// forwardTimeout is as long as the service waits for a receiver.
	forwardTimeout = 15 * time.Second
	// forwardTries is how often an event is posted to a program that answers, but does not take it.
	forwardTries = 5
	// firstPause doubles with each try, up to longestPause.
	firstPause   = time.Second
	longestPause = 15 * time.Second
)

// forwarder posts events to a program on this machine.
type forwarder struct {
	url    string
	secret webhook.Secret
	out    *output
	client *http.Client
}

// forwardEvent posts one event until it is taken or given up, and prints what came of each try.
func (f forwarder) forwardEvent(ctx context.Context, e client.Event) error {
	body, err := json.Marshal(e.Body)
	if err != nil {
		return err
	}
	answered, pause := 0, firstPause
	for {
		outcome := f.post(ctx, e.ID, body)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if outcome.Failure == webhook.FailureNone {
			answered++
		}
		isTaken := webhook.JudgeOutcome(outcome).Action == webhook.Delivered
		isLast := isTaken || answered == forwardTries
		line := fmt.Sprintf(
			"%s  %-32s %s -> %s",
			time.Now().Format(time.TimeOnly),
			e.Body.Type,
			e.ID,
			explainOutcome(outcome),
		)
		switch {
		case !isLast:
			line += fmt.Sprintf("; tried again in %v", pause)
		case !isTaken:
			line += "; given up, it stays in GET /v1/events"
		}
		if _, err := fmt.Fprintln(f.out.w, line); err != nil || isLast {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
			pause = min(2*pause, longestPause)
		}
	}
}

// post makes one try.
func (f forwarder) post(ctx context.Context, id string, body []byte) webhook.Outcome {
	return webhook.SendAttempt(ctx, f.client, webhook.Attempt{
		URL: f.url, EventID: id, At: time.Now(), Body: body, Keys: []webhook.Key{f.secret},
	})
}

// failureSentences say why there was no answer, and what to look at.
var failureSentences = map[webhook.Failure]string{
	webhook.FailureDNS:      "the host is not known",
	webhook.FailureConnect:  "nothing listens there: is the program running?",
	webhook.FailureTLS:      "the certificate or the handshake was refused",
	webhook.FailureTimeout:  "no answer within 15 s",
	webhook.FailureReset:    "the connection broke before an answer",
	webhook.FailureProtocol: "what answered does not speak HTTP",
}

// explainOutcome says in words what came of a try: a status, with the beginning of the answer where it was refused, or
// why there was none.
func explainOutcome(outcome webhook.Outcome) string {
	if outcome.Failure != webhook.FailureNone {
		return cmp.Or(failureSentences[outcome.Failure], string(outcome.Failure))
	}
	text := fmt.Sprint(outcome.Status)
	if webhook.JudgeOutcome(outcome).Action == webhook.Delivered || outcome.Answer == "" {
		return text
	}
	return fmt.Sprintf("%s %q", text, beginning(outcome.Answer))
}

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
