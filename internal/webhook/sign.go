package webhook

import (
	"crypto/hmac"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/fault"
)

// The header names of Standard Webhooks 1.0.
const (
	HeaderID        = "webhook-id"
	HeaderTimestamp = "webhook-timestamp"
	HeaderSignature = "webhook-signature"
)

// maxEventID bounds the id of an event in bytes.
const maxEventID = 128

// SignHeaders sets the three headers for one attempt. The id names the event and stays the same on every attempt; at is the
// time of this attempt. Each key adds one signature, in the order given.
func SignHeaders(header http.Header, id string, at time.Time, body []byte, keys []Key) error {
	if !validEventID(id) {
		// A dot in the id would let id and timestamp change places in the signed text.
		return ErrSign.Note("event id must be 1 to %d letters, digits, '_' or '-'", maxEventID)
	}
	if len(keys) == 0 {
		return ErrSign.Note("an endpoint must have a key")
	}
	timestamp := strconv.FormatInt(at.Unix(), 10)
	content := make([]byte, 0, len(id)+len(timestamp)+len(body)+2)
	content = append(content, id...)
	content = append(content, '.')
	content = append(content, timestamp...)
	content = append(content, '.')
	content = append(content, body...)

	signatures := make([]string, 0, len(keys))
	for _, key := range keys {
		if !isUsableKey(key) {
			return ErrSign.Note("a key is empty")
		}
		signatures = append(signatures, key.Scheme()+","+base64.StdEncoding.EncodeToString(key.signContent(content)))
	}
	header.Set(HeaderID, id)
	header.Set(HeaderTimestamp, timestamp)
	header.Set(HeaderSignature, strings.Join(signatures, " "))
	return nil
}

// isUsableKey refuses the zero value of a key: an empty HMAC key signs without complaint, and anybody can forge it.
func isUsableKey(key Key) bool {
	switch k := key.(type) {
	case Secret:
		return len(k.key) >= minSecret
	case SigningKey:
		return len(k.key) > 0
	}
	return false
}

// validEventID reports whether an ID is safe in a header and in the signed text: letters, digits, dashes and
// underscores.
func validEventID(id string) bool {
	if id == "" || len(id) > maxEventID {
		return false
	}
	for i := range len(id) {
		c := id[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

// ErrSignature means that a call was not signed by the expected sender, or not recently. It never says which of the
// two: an attacker who guesses learns nothing.
var ErrSignature = fault.New(fault.Unauthenticated, "webhook.signature")

// Tolerance is how far the time of a signed call may be from ours, either way. Within it an eavesdropper can replay the
// call, so a handler must tolerate repetition.
const Tolerance = 5 * time.Minute

// maxSignatures bounds the work on one call: a sender signs once, or twice while a secret is changed.
const maxSignatures = 8

// VerifyRequest returns ErrSignature unless a call that came in was signed in the form of Sign by the holder of one of
// the secrets. Every header must be there once; signatures are compared in constant time.
func VerifyRequest(header http.Header, body []byte, now time.Time, secrets []Secret) error {
	id, timestamp, signature := header.Values(HeaderID), header.Values(HeaderTimestamp), header.Values(HeaderSignature)
	if len(id) != 1 || len(timestamp) != 1 || len(signature) != 1 || !validEventID(id[0]) {
		return ErrSignature
	}
	seconds, err := strconv.ParseInt(timestamp[0], 10, 64)
	if err != nil || strconv.FormatInt(seconds, 10) != timestamp[0] {
		return ErrSignature
	}
	if off := now.Sub(time.Unix(seconds, 0)); off > Tolerance || off < -Tolerance {
		return ErrSignature
	}
	given := strings.Split(signature[0], " ")
	if len(given) > maxSignatures {
		return ErrSignature
	}
	content := append([]byte(id[0]+"."+timestamp[0]+"."), body...)
	right := false
	for _, secret := range secrets {
		if !isUsableKey(secret) {
			continue
		}
		want := []byte(secret.Scheme() + "," + base64.StdEncoding.EncodeToString(secret.signContent(content)))
		for _, one := range given {
			right = hmac.Equal(want, []byte(one)) || right
		}
	}
	if !right {
		return ErrSignature
	}
	return nil
}
