package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/vigiahq/vigia/client"
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
