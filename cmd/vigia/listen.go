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
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/webhook"
)

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

// Help shows an example.
func (listenCmd) Help() string {
	return "Posts each event once and prints its id, type and the status of the answer. Ends with Ctrl-C.\n\n" +
		"Example:\n  VIGIA_API_KEY=vg_test_... vigia listen --api https://vigia.exemplo.com.br --forward http://localhost:3000/vigia"
}

// Run forwards events until a signal comes.
func (l *listenCmd) Run(ctx context.Context, o *output) error {
	var problems config.Problems
	if !partner.WellFormed(l.APIKey) || !strings.HasPrefix(l.APIKey, partner.SandboxKeyPrefix) {
		problems = append(problems, "--api-key: the key of a sandbox partner is needed, from VIGIA_API_KEY or VIGIA_API_KEY_FILE: reading the events of a live one would count as having them")
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
		after, err = l.eachEvent(ctx, ask, after, func(e client.Event) error { return l.forwardEvent(ctx, o, secret, e) })
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
func (l *listenCmd) eachEvent(ctx context.Context, ask *client.Client, after string, do func(client.Event) error) (string, error) {
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
