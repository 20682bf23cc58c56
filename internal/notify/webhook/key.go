package webhook

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
)

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
