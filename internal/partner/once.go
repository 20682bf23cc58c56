package partner

import (
	"time"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// A partner that repeats a request after a time-out sends the same idempotency key. The claim on that key, the effect
// of the work and the answer that was given are kept in one transaction, so a repeat finds either all three or none.
// An answer is a status and bytes: this file knows neither HTTP nor SQL.

// KeepAnswers is how long an answer is remembered.
const KeepAnswers = 24 * time.Hour

// RequestClaim is what makes two requests the same.
type RequestClaim struct {
	// Line is that of the API key: another key of the partner does not find the answer, one that replaced it does.
	Line KeyID
	// Path is the operation without its version prefix, path values included.
	Path string
	// Key is what the partner chose.
	Key string
	// Digest is the SHA-256 of the body (and query): the same key with another digest is refused.
	Digest []byte
	// About is the person that the request names, as it was sent; empty when it names no person, or many: answers to
	// those hold no personal data.
	About UserHash
	// IsBulk is whether the work writes many rows.
	IsBulk bool
}

// MaxKeptAnswer bounds an answer that is kept, in bytes. One that is larger was given once: a repeat is told that the
// work is done.
const MaxKeptAnswer = 512 << 10

// Answer is what was said.
type Answer struct {
	Status int
	Body   []byte
	// Headers are what the answer says beside its body, by name, such as the detail of a refusal. They are kept and
	// come again with a replay, so nothing belongs here that is true of one request only. Nil for most answers.
	Headers map[string]string
	// Created is the ID of what the request made, where Body holds a secret that is shown once: an API key, a webhook's
	// secret, a link to a person's page. Such a body is not kept; a repeat is told the ID instead.
	Created string
}

// Faults of a repeated request.
var (
	ErrOtherBody    = fault.New(fault.Unprocessable, "idempotency.other_body")
	ErrStillRunning = fault.New(fault.Conflict, "idempotency.still_running")
	// ErrNotKept is a repeat of a request that was done, whose answer was too large to keep.
	ErrNotKept = fault.New(fault.Conflict, "idempotency.answer_not_kept")
	// ErrGivenOnce is a repeat of a request that was done, whose answer held a secret.
	ErrGivenOnce = fault.New(fault.Conflict, "idempotency.given_once")
)
