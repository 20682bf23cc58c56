// Package client is for partners of Vigia who write Go: it verifies the webhooks they receive and computes the userHash
// that names a person in the API.
//
// It depends on nothing of the service, opens no connection and keeps no state. Its promise: VerifyWebhook returns an
// event only if the body, the id and the time of the attempt are those that were signed with one of the given keys, and
// the attempt is at most five minutes away from now.
//
// Deliveries are made at least once. The id of an Event is the same on every repeat: remember the ids you have handled
// and ignore those you know.
package client
