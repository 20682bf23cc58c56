package operator

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"strings"

	"golang.org/x/crypto/argon2"
)

// argonCost is the cost of a hash: 19 MiB, two passes and one lane is what OWASP recommends as the least. Nothing but
// the tests of this package, which hash hundreds, ever changes it.
var argonCost = struct{ memory, passes uint32 }{memory: 19 << 10, passes: 2} // KiB

// The parameters of Argon2id that OWASP recommends for 19 MiB.
const (
	argonThreads = 1
	argonKey     = 32
	argonSalt    = 16
	// hashesAtOnce bounds memory and processor time: without it a flood of log-ins would be an outage.
	hashesAtOnce = 2
	// hashesWaiting is how many more may queue; the rest are refused and may retry.
	hashesWaiting = 16
)

// hasher runs Argon2id for few at once.
type hasher struct {
	running chan struct{}
	waiting chan struct{}
	// key is Argon2id; tests count its calls.
	key func(password, salt []byte) []byte
}

// newHasher returns a hasher that bounds the hashes at work and in the queue, since each one takes much memory.
func newHasher() *hasher {
	return &hasher{
		running: make(chan struct{}, hashesAtOnce), waiting: make(chan struct{}, hashesAtOnce+hashesWaiting),
		key: func(password, salt []byte) []byte {
			return argon2.IDKey(password, salt, argonCost.passes, argonCost.memory, argonThreads, argonKey)
		},
	}
}

// deriveKey returns the Argon2 hash of a password.
func (h *hasher) deriveKey(ctx context.Context, password string, salt []byte) ([]byte, error) {
	select {
	case h.waiting <- struct{}{}:
		defer func() { <-h.waiting }()
	default:
		return nil, ErrBusy
	}
	select {
	case h.running <- struct{}{}:
		defer func() { <-h.running }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return h.key([]byte(password), salt), nil
}

// encodedPrefix names the parameters in each stored hash, so that they can be raised later.
const encodedPrefix = "$argon2id$v=19$m=19456,t=2,p=1$"

// hashPassword hashes a password with a fresh salt, in the usual text form.
func (h *hasher) hashPassword(ctx context.Context, password string) (string, error) {
	salt := randomBytes(argonSalt)
	key, err := h.deriveKey(ctx, password, salt)
	if err != nil {
		return "", err
	}
	encode := base64.RawStdEncoding.EncodeToString
	return encodedPrefix + encode(salt) + "$" + encode(key), nil
}

// matchesHash compares a password with an encoded hash. An empty or foreign hash costs the same and never matches, so
// that an unknown operator cannot be distinguished from a wrong password by timing.
func (h *hasher) matchesHash(ctx context.Context, password, encoded string) (bool, error) {
	salt, want := make([]byte, argonSalt), make([]byte, argonKey)
	known := false
	if rest, ok := strings.CutPrefix(encoded, encodedPrefix); ok {
		s, k, _ := strings.Cut(rest, "$")
		salt2, err1 := base64.RawStdEncoding.DecodeString(s)
		want2, err2 := base64.RawStdEncoding.DecodeString(k)
		if err1 == nil && err2 == nil && len(want2) == argonKey {
			salt, want, known = salt2, want2, true
		}
	}
	key, err := h.deriveKey(ctx, password, salt)
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(key, want) == 1 && known, nil
}
