// Package webhook does the parts of a delivery that need no database: it signs an event, says which addresses may be
// dialled, sends once, judges the answer and names the time of the next try.
//
// It does not know what an event means, which partner an endpoint belongs to, or where deliveries are kept: the alert
// package makes the events, the store keeps the rows, and a worker calls the functions here between two transactions.
//
// Invariants:
//   - Every connection made through a Guard is to an address the guard accepted after the name was resolved, so that
//     neither a redirect nor a changed DNS answer nor an odd notation can lead to an inner service.
//   - The bytes that are signed are the bytes that are sent, and the signature is made anew for each attempt.
//   - Nothing a receiver does can hold more than one time-out, 64 KiB of reading and 1 KiB of log.
package webhook

import "github.com/vigiahq/vigia/internal/platform/fault"

// The faults of this package. A refused address never says which address it was, nor whether the name exists: the
// answer to a partner must not map the operator's network. The cause, for the log, does.
var (
	ErrURL     = fault.New(fault.Invalid, "webhook.url_invalid")
	ErrAddress = fault.New(fault.Invalid, "webhook.address_refused")
	ErrKey     = fault.New(fault.Invalid, "webhook.key_invalid")
	ErrSign    = fault.New(fault.Internal, "webhook.not_signable")
	ErrTooMany = fault.New(fault.Conflict, "webhook.too_many_keys")
)

// The header names of Standard Webhooks 1.0.
const (
	HeaderID        = "webhook-id"
	HeaderTimestamp = "webhook-timestamp"
	HeaderSignature = "webhook-signature"
)
