package seal

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"sync"

	"github.com/dchest/siphash"
	daead "github.com/tink-crypto/tink-go/v2/daead/subtle"
)

// BUG(seal): a fingerprint has 64 bits, so a value that is in no breach is taken for one that is with a probability of
// n in 2^64, where n is the number of all keys in all breaches: about one watched value in two thousand million at ten
// thousand million keys.

// Fingerprint returns the 64-bit keyed fingerprint by which leaked and watched values are matched: SipHash-2-4 of the
// value under a key of its kind, which keeps apart, say, a phone number and a CPF of the same digits. It is the same
// for all partners. value is already normalised. It runs for every identifier of every dump, and allocates nothing.
func (k *Keys) Fingerprint(kind byte, value []byte) uint64 {
	return k.match.kinds[kind].hashMessage(value)
}

// pairTag is how many bits of a pair tell passwords of one value apart. A wrong password is taken for one that leaked
// with the value with a probability of one in 2^24 for each that did; the 40 bits before it say whose it is.
const pairTag = 24

// PairFingerprint returns the fingerprint of a value and a password that stood in one record: of the value's own
// fingerprint and the first 40 bits of the password's SHA-1, under a key of its own. Who watches a value has its
// fingerprint at hand, so a pair is asked for without opening the value.
func (k *Keys) PairFingerprint(fingerprint, password uint64) uint64 {
	var msg [16]byte
	binary.LittleEndian.PutUint64(msg[:], fingerprint)
	binary.LittleEndian.PutUint64(msg[8:], password)
	first, _ := k.PairRange(fingerprint)
	return first | k.match.pair.hashMessage(msg[:])>>(64-pairTag)
}

// PairRange returns the range in which all pairs of a value are: what is in it tells passwords apart that leaked with
// the value, and is the same in every breach.
func (k *Keys) PairRange(fingerprint uint64) (first, last uint64) {
	var msg [8]byte
	binary.LittleEndian.PutUint64(msg[:], fingerprint)
	first = k.match.pair.hashMessage(msg[:]) &^ (1<<pairTag - 1)
	return first, first | (1<<pairTag - 1)
}

// matcher holds the keys that follow from the match secret.
type matcher struct {
	kinds  [256]sipKey
	pair   sipKey
	tables *daead.AESSIV
	secret []byte
	veils  sync.Map // partner -> Veil
}

// sipKey is a key of SipHash, as the two numbers that its authors make of its sixteen bytes.
type sipKey struct{ k0, k1 uint64 }

// newMatcher derives one key for each kind of value, so that equal values of two kinds have different fingerprints.
func newMatcher(secret []byte) *matcher {
	m := &matcher{
		pair:   newSipKey(secret, []byte(labelPair)),
		tables: newTables(secret),
		secret: append([]byte(nil), secret...),
	}
	for kind := range m.kinds {
		m.kinds[kind] = newSipKey(secret, append([]byte(labelMatch), byte(kind)))
	}
	return m
}

// newSipKey derives a key by HMAC, as deriver does.
func newSipKey(secret, label []byte) sipKey {
	h := hmac.New(sha256.New, secret)
	h.Write(label)
	key := h.Sum(nil)
	return sipKey{binary.LittleEndian.Uint64(key), binary.LittleEndian.Uint64(key[8:])}
}

func (k sipKey) hashMessage(msg []byte) uint64 { return siphash.Hash(k.k0, k.k1, msg) }
