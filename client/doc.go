// Package client is for partners of Vigia who write Go: every operation of the partner API with types, the verification
// of the webhooks they receive, and the userHash that names a person.
//
// It depends on nothing of the service and knows its public contract alone. What it promises: a call that returns nil
// was answered by the service with success; a POST is safe to repeat, because every attempt of one call carries the
// same idempotency key; and VerifyWebhook returns an event only if the body, the id and the time of the attempt are
// those that were signed with one of the given keys, and the attempt is at most five minutes away from now.
//
// Deliveries are made at least once. The ID of a WebhookEvent is the same on every repeat: remember the ids you have
// handled and ignore those you know.
package client
