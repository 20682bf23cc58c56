package client

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Tolerance is how far the time of an attempt may be from the receiver's clock, to either side. Older ones may be
// replays.
const Tolerance = 5 * time.Minute

// What VerifyWebhook may refuse. Answer 4xx to all of them but ErrKey, which is a mistake in the receiver's own
// configuration and deserves a 500, so that the delivery is repeated once it is mended.
var (
	ErrKey       = errors.New("client: webhook key is not a valid whsec_ or whpk_ key")
	ErrHeaders   = errors.New("client: webhook headers are missing or malformed")
	ErrTimestamp = errors.New("client: webhook timestamp is outside the tolerance")
	ErrSignature = errors.New("client: no webhook signature matches")
	ErrBody      = errors.New("client: webhook body is not an event")
)

// maxSignatures bounds the work that a forged header can cause.
const maxSignatures = 32

// WebhookEvent is a verified webhook.
type WebhookEvent struct {
	// ID is the same on every repeat of the event.
	ID string
	// SentAt is the time of this attempt, in whole seconds.
	SentAt time.Time
	Body   EventBody
}

// VerifyWebhook checks a webhook and returns its event. The keys are those you trust: whsec_ secrets, whpk_ public
// keys, or both; during a rotation give the old and the new one. The body must be the bytes as received, before any
// parsing. now is time.Now(), except in tests.
func VerifyWebhook(keys []string, header http.Header, body []byte, now time.Time) (WebhookEvent, error) {
	verifiers, err := parseKeys(keys)
	if err != nil {
		return WebhookEvent{}, err
	}
	m, err := parseHeader(header)
	if err != nil {
		return WebhookEvent{}, err
	}
	if d := now.Sub(m.sentAt); d > Tolerance || d < -Tolerance {
		return WebhookEvent{}, ErrTimestamp
	}
	content := append([]byte(m.id+"."+m.timestamp+"."), body...)
	if !anyMatches(verifiers, content, m.signatures) {
		return WebhookEvent{}, ErrSignature
	}
	return parseEvent(m, body)
}

// verifier reports whether a signature, given as its text without the scheme, belongs to content.
type verifier struct {
	scheme  string
	matches func(content []byte, signature string) bool
}

// parseKeys parses the keys to verify with. Its errors name a key by its number and never contain the key.
func parseKeys(keys []string) ([]verifier, error) {
	if len(keys) == 0 {
		return nil, fmt.Errorf("%w: none given", ErrKey)
	}
	list := make([]verifier, 0, len(keys))
	for i, key := range keys {
		v, ok := parseKey(key)
		if !ok {
			return nil, fmt.Errorf("%w: number %d", ErrKey, i+1) // never the key itself
		}
		list = append(list, v)
	}
	return list, nil
}

// parseKey parses a shared secret (whsec_) or a public key (whpk_).
func parseKey(key string) (verifier, bool) {
	if text, ok := strings.CutPrefix(key, "whsec_"); ok {
		secret, ok := decode(text)
		return symmetric(secret), ok && len(secret) >= 24 && len(secret) <= 64
	}
	if text, ok := strings.CutPrefix(key, "whpk_"); ok {
		public, ok := decode(text)
		return asymmetric(public), ok && len(public) == ed25519.PublicKeySize
	}
	return verifier{}, false
}

// symmetric compares the texts, in constant time: a second spelling of the same bytes does not match.
func symmetric(secret []byte) verifier {
	return verifier{"v1", func(content []byte, signature string) bool {
		mac := hmac.New(sha256.New, secret)
		mac.Write(content)
		want := base64.StdEncoding.EncodeToString(mac.Sum(nil))
		return hmac.Equal([]byte(want), []byte(signature))
	}}
}

// asymmetric returns the verifier of Ed25519 signatures.
func asymmetric(public []byte) verifier {
	return verifier{"v1a", func(content []byte, signature string) bool {
		raw, ok := decode(signature)
		return ok && ed25519.Verify(public, content, raw)
	}}
}

// decode takes exactly one spelling: encoding/base64 skips line breaks and stray bits.
func decode(text string) ([]byte, bool) {
	raw, err := base64.StdEncoding.DecodeString(text)
	return raw, err == nil && base64.StdEncoding.EncodeToString(raw) == text
}

// message is what the headers say.
type message struct {
	id, timestamp string
	sentAt        time.Time
	signatures    []string
}

// parseHeader reads the three headers of a message. It refuses headers that are missing or repeated, and ids with a
// dot.
func parseHeader(header http.Header) (message, error) {
	var values [3]string
	for i, name := range [3]string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
		found := header.Values(name)
		if len(found) != 1 || found[0] == "" {
			return message{}, fmt.Errorf("%w: %s must be there once", ErrHeaders, name)
		}
		values[i] = found[0]
	}
	m := message{id: values[0], timestamp: values[1], signatures: strings.Split(values[2], " ")}
	if strings.Contains(m.id, ".") {
		// The dot separates the signed parts; in an id it would let them change places.
		return message{}, fmt.Errorf("%w: webhook-id holds a dot", ErrHeaders)
	}
	seconds, err := strconv.ParseInt(m.timestamp, 10, 64)
	if err != nil || seconds < 0 || strconv.FormatInt(seconds, 10) != m.timestamp {
		return message{}, fmt.Errorf("%w: webhook-timestamp is not a number of seconds", ErrHeaders)
	}
	if len(m.signatures) > maxSignatures {
		return message{}, fmt.Errorf("%w: more than %d signatures", ErrHeaders, maxSignatures)
	}
	m.sentAt = time.Unix(seconds, 0)
	return m, nil
}

// anyMatches reports whether one signature matches one key. During a rotation a message carries several signatures.
func anyMatches(verifiers []verifier, content []byte, signatures []string) bool {
	for _, s := range signatures {
		scheme, text, ok := strings.Cut(s, ",")
		if !ok {
			continue
		}
		for _, v := range verifiers {
			if v.scheme == scheme && v.matches(content, text) {
				return true
			}
		}
	}
	return false
}

// parseEvent decodes a verified body; id and time of sending come from the signed headers.
func parseEvent(m message, body []byte) (WebhookEvent, error) {
	event := WebhookEvent{ID: m.id, SentAt: m.sentAt}
	if err := json.Unmarshal(body, &event.Body); err != nil {
		return WebhookEvent{}, fmt.Errorf("%w: %w", ErrBody, err)
	}
	if event.Body.Type == "" {
		return WebhookEvent{}, fmt.Errorf("%w: it has no type", ErrBody)
	}
	return event, nil
}
