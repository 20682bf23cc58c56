package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/platform/config"
)

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
			"%s  %-32s %s -> %s", time.Now().Format(time.TimeOnly), e.Body.Type, e.ID, explainOutcome(outcome),
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

// checkForward returns what is wrong with the address of a receiver.
func checkForward(address string) config.Problems {
	to, err := url.Parse(address)
	if err != nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https" {
		return config.Problems{"--forward: an http or https address is needed"}
	}
	return nil
}
