package webhook

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode"
)

// UserAgent is how the service names itself to receivers.
const UserAgent = "Vigia-Webhook/1"

// Bounds on what is taken from an answer, in bytes. Reading a little more than is kept lets an honest receiver's
// connection be used again.
const (
	maxAnswer  = 64 << 10
	keepAnswer = 1 << 10
)

// Attempt is one try to deliver one event to one endpoint.
type Attempt struct {
	URL string
	// EventID is the same on every attempt of the event: receivers tell repeats by it.
	EventID string
	// At is the time of this attempt, from the worker's clock; it is signed.
	At   time.Time
	Body []byte
	Keys []Key
}

// Outcome is what became of an attempt.
type Outcome struct {
	// Status is the HTTP status, 0 without an answer; then Failure says why.
	Status   int
	Failure  Failure
	Duration time.Duration
	// Answer is the beginning of the answer's body, printable, at most 1 KiB. It is the receiver's text: show it
	// escaped.
	Answer string
	// Read is how many bytes of the body were read.
	Read int64
	// RetryAfter is how long the receiver asked us to wait, at most 24 h; 0 when it did not ask.
	RetryAfter time.Duration
}

// SendAttempt signs and posts once. It never retries, returns within the client's time-out, and leaves the reading of
// the result to JudgeOutcome. The client is one of Guard.NewClient.
func SendAttempt(ctx context.Context, client *http.Client, a Attempt) Outcome {
	start := time.Now() //nolint:forbidigo // how long it took is shown to people; no rule asks for it
	outcome := postAttempt(ctx, client, a)
	outcome.Duration = time.Since(start)
	return outcome
}

// postAttempt posts the signed body and reads the answer.
func postAttempt(ctx context.Context, client *http.Client, a Attempt) Outcome {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.URL, bytes.NewReader(a.Body))
	if err != nil {
		return Outcome{Failure: FailureUnsendable}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", UserAgent)
	if err := SignHeaders(req.Header, a.EventID, a.At, a.Body, a.Keys); err != nil {
		return Outcome{Failure: FailureUnsendable}
	}
	resp, err := client.Do(req)
	if err != nil {
		return Outcome{Failure: classifyFailure(ctx, err)}
	}
	defer func() { _ = resp.Body.Close() }()

	outcome := Outcome{Status: resp.StatusCode}
	if resp.StatusCode < 200 {
		// 101 hands the raw connection over as body, and no time-out would end the reading of it.
		return outcome
	}
	outcome.Answer, outcome.Read = readAnswer(resp.Body)
	if !outcome.isAccepted() {
		outcome.RetryAfter = retryAfter(resp.Header.Get("Retry-After"), a.At)
	}
	return outcome
}

// isAccepted reports whether the receiver answered 2xx.
func (o Outcome) isAccepted() bool { return o.Status >= 200 && o.Status <= 299 }

// readAnswer takes the bounded part of the body. An error here changes nothing: the status has been said.
func readAnswer(body io.Reader) (string, int64) {
	head := make([]byte, keepAnswer)
	kept, err := io.ReadFull(body, head)
	read := int64(kept)
	if err == nil {
		more, _ := io.CopyN(io.Discard, body, maxAnswer-read)
		read += more
	}
	return printableText(head[:kept]), read
}

// printableText makes foreign bytes fit for a log and a page: valid UTF-8, no control or direction characters, one
// line. It never grows: each byte that is replaced becomes one byte.
func printableText(raw []byte) string {
	text := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == unicode.ReplacementChar || !unicode.IsPrint(r):
			return '.'
		}
		return r
	}, string(raw))
	return strings.TrimSpace(text)
}
