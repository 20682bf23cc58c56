package webhook

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// The header names of Standard Webhooks 1.0.
const (
	HeaderID        = "webhook-id"
	HeaderTimestamp = "webhook-timestamp"
	HeaderSignature = "webhook-signature"
)

// maxEventID bounds the id of an event in bytes.
const maxEventID = 128

// SignHeaders sets the three headers for one attempt. The id names the event and stays the same on every attempt; at is
// the time of this attempt. Each key adds one signature, in the order given.
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

// The text forms of Standard Webhooks.
const (
	secretPrefix     = "whsec_"
	signingKeyPrefix = "whsk_"
	publicKeyPrefix  = "whpk_"
)

// Secret sizes in bytes. The standard allows the range; ours have the size of the hash.
const (
	minSecret = 24
	maxSecret = 64
	newSecret = 32
)

// Key signs. It is a Secret (v1) or a SigningKey (v1a).
type Key interface {
	// Scheme is the name the signature carries in the header.
	Scheme() string
	signContent(content []byte) []byte
}

// Secret is the shared HMAC key of one endpoint. It does not print: only Reveal gives it away.
type Secret struct{ key []byte }

// NewSecret makes a secret from random, which is crypto/rand outside tests.
func NewSecret(random io.Reader) (Secret, error) {
	key := make([]byte, newSecret)
	if _, err := io.ReadFull(random, key); err != nil {
		return Secret{}, fmt.Errorf("make webhook secret: %w", err)
	}
	return Secret{key}, nil
}

// ParseSecret reads the text form, prefix included. The prefix is required: a key of the wrong kind must not pass as
// a secret because its base64 happens to have the right length.
func ParseSecret(text string) (Secret, error) {
	key, err := decodeKeyText(text, secretPrefix)
	if err != nil {
		return Secret{}, err
	}
	if len(key) < minSecret || len(key) > maxSecret {
		return Secret{}, ErrKey.Note("secret must have %d to %d bytes", minSecret, maxSecret)
	}
	return Secret{key}, nil
}

// Reveal returns the text form, to be shown once or sealed.
func (s Secret) Reveal() string { return secretPrefix + base64.StdEncoding.EncodeToString(s.key) }

// Scheme is "v1".
func (Secret) Scheme() string { return "v1" }

// signContent returns the HMAC of the content.
func (s Secret) signContent(content []byte) []byte {
	mac := hmac.New(sha256.New, s.key)
	mac.Write(content)
	return mac.Sum(nil)
}

// Format keeps the secret out of logs under every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, secretPrefix+"[hidden]") }

// SigningKey is the private ed25519 key of one endpoint. It does not print either.
type SigningKey struct{ key ed25519.PrivateKey }

// NewSigningKey makes a key from random. The seed is read here, not by crypto/ed25519, which in recent Go versions may
// ignore the reader it is given.
func NewSigningKey(random io.Reader) (SigningKey, error) {
	seed := make([]byte, ed25519.SeedSize)
	if _, err := io.ReadFull(random, seed); err != nil {
		return SigningKey{}, fmt.Errorf("make webhook signing key: %w", err)
	}
	return SigningKey{ed25519.NewKeyFromSeed(seed)}, nil
}

// ParseSigningKey reads the text form: base64 of the seed followed by the public key. A public half that does not
// belong to the seed is refused, as signing with such a pair gives the seed away.
func ParseSigningKey(text string) (SigningKey, error) {
	raw, err := decodeKeyText(text, signingKeyPrefix)
	if err != nil {
		return SigningKey{}, err
	}
	if len(raw) != ed25519.PrivateKeySize {
		return SigningKey{}, ErrKey.Note("signing key must have %d bytes", ed25519.PrivateKeySize)
	}
	key := ed25519.NewKeyFromSeed(raw[:ed25519.SeedSize])
	if !key.Equal(ed25519.PrivateKey(raw)) {
		return SigningKey{}, ErrKey.Note("signing key: the public half does not belong to the private half")
	}
	return SigningKey{key}, nil
}

// Reveal returns the text form, to be sealed. It never leaves the service.
func (k SigningKey) Reveal() string {
	return signingKeyPrefix + base64.StdEncoding.EncodeToString(k.key)
}

// PublicText returns the text form of the public half, the one that partners verify with.
func (k SigningKey) PublicText() string {
	if len(k.key) != ed25519.PrivateKeySize {
		return ""
	}
	return publicKeyPrefix + base64.StdEncoding.EncodeToString(k.key[ed25519.SeedSize:])
}

// Scheme is "v1a".
func (SigningKey) Scheme() string { return "v1a" }

// signContent returns the Ed25519 signature of the content.
func (k SigningKey) signContent(content []byte) []byte { return ed25519.Sign(k.key, content) }

// Format keeps the key out of logs under every verb.
func (SigningKey) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, signingKeyPrefix+"[hidden]") }

// decodeKeyText takes exactly one spelling of a key: encoding/base64 skips line breaks and, unless told, stray bits.
func decodeKeyText(text, prefix string) ([]byte, error) {
	encoded, ok := strings.CutPrefix(text, prefix)
	if !ok {
		return nil, ErrKey.Note("key must start with %s", prefix)
	}
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || base64.StdEncoding.EncodeToString(raw) != encoded {
		return nil, ErrKey.Note("key must be standard base64 with padding after %s", prefix)
	}
	return raw, nil
}

// RotationOverlap is how long a replaced key goes on signing beside the new one, unless the operator cuts it short.
const RotationOverlap = 24 * time.Hour

// maxKeys bounds the keys of one scheme that sign at the same time, and with it the size of the header.
const maxKeys = 5

// DatedKey is a key of an endpoint and the time it stops signing; the zero time means it is the current one.
type DatedKey struct {
	Key   Key
	Until time.Time
}

// Keyring holds the keys of one endpoint, newest first: at most one current key of each scheme, and replaced ones.
type Keyring []DatedKey

// RotateKey returns a ring in which next is the current key of its scheme and the one before it signs for overlap more
// (zero: not at all, for a key known to be stolen). Keys of the other scheme stay as they are. Too many rotations
// within one overlap are refused rather than cutting the promised time of an earlier key.
func (r Keyring) RotateKey(next Key, now time.Time, overlap time.Duration) (Keyring, error) {
	ring := Keyring{{Key: next}}
	same := 1
	for _, k := range r {
		if k.Key.Scheme() == next.Scheme() {
			if end := now.Add(overlap); k.Until.IsZero() || k.Until.After(end) {
				k.Until = end
			}
		}
		if !k.isLiveAt(now) {
			continue
		}
		if k.Key.Scheme() == next.Scheme() {
			same++
		}
		ring = append(ring, k)
	}
	if same > maxKeys {
		return nil, ErrTooMany.With("overlap", fault.KeysValidAtOnce, maxKeys)
	}
	return ring, nil
}

// LiveKeys returns the keys that sign at now, newest first.
func (r Keyring) LiveKeys(now time.Time) []Key {
	keys := make([]Key, 0, len(r))
	for _, k := range r {
		if k.isLiveAt(now) {
			keys = append(keys, k.Key)
		}
	}
	return keys
}

// isLiveAt reports whether the key signs at now.
func (k DatedKey) isLiveAt(now time.Time) bool { return k.Until.IsZero() || now.Before(k.Until) }
