package partner

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"hash/crc32"
	"io"
	"math/big"
	"strings"
	"time"

	"github.com/google/uuid"
)

const (
	livePrefix = "vg_live_"
	// SandboxKeyPrefix begins the keys of sandbox partners.
	SandboxKeyPrefix = "vg_test_"
	prefixLen        = len(livePrefix)
	secretLen        = 43 // 256 bits in base 62
	checksumLen      = 6  // a CRC-32 in base 62
	keyLen           = prefixLen + secretLen + checksumLen
	alphabet         = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	maxRollHours     = 7 * 24
)

// generateKey makes a key and returns it together with the text that the partner will send.
func (r *Registry) generateKey(
	p Partner, label string, scopes []Scope, expires time.Time, madeBy KeyID,
) (Key, string, error) {
	raw := make([]byte, 32)
	if _, err := io.ReadFull(r.random, raw); err != nil {
		return Key{}, "", fmt.Errorf("make key: %w", err)
	}
	prefix := livePrefix
	if p.Mode.Has(TestKeys) {
		prefix = SandboxKeyPrefix
	}
	body := prefix + encodeBase62(new(big.Int).SetBytes(raw), secretLen)
	text := body + keyChecksum(body)
	digest := sha256.Sum256([]byte(text))
	keyID := KeyID("key_" + uuid.Must(uuid.NewV7()).String())
	return Key{
		ID: keyID, Partner: p.ID, Label: label, Preview: text[:prefixLen+4], Digest: digest[:],
		Scopes: scopes, CreatedAt: r.now(), ExpiresAt: expires, MadeBy: madeBy, Line: keyID,
	}, text, nil
}

// encodeBase62 writes a number in digits and letters, padded to a width.
func encodeBase62(n *big.Int, width int) string {
	out := make([]byte, width)
	base, digit := big.NewInt(62), new(big.Int)
	for i := width - 1; i >= 0; i-- {
		n.DivMod(n, base, digit)
		out[i] = alphabet[digit.Int64()]
	}
	return string(out)
}

// keyChecksum returns the check characters at the end of a key.
func keyChecksum(body string) string {
	return encodeBase62(new(big.Int).SetUint64(uint64(crc32.ChecksumIEEE([]byte(body)))), checksumLen)
}

// WellFormed reports whether a text has the form of an API key, its checksum included: a typo or a guess dies before it
// reaches a cache or the database.
func WellFormed(key string) bool {
	if len(key) != keyLen || (key[:prefixLen] != livePrefix && key[:prefixLen] != SandboxKeyPrefix) {
		return false
	}
	body := key[:prefixLen+secretLen]
	return strings.Trim(body[prefixLen:], alphabet) == "" && key[len(body):] == keyChecksum(body)
}

// matchesDigest compares digests in constant time.
func (k Key) matchesDigest(digest []byte) bool {
	return subtle.ConstantTimeCompare(k.Digest, digest) == 1
}
