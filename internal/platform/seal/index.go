package seal

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"sync"

	"github.com/dchest/siphash"
	daead "github.com/tink-crypto/tink-go/v2/daead/subtle"
)

const (
	// IndexSize is the length of a blind index. 128 bits: a billion values of one field and partner collide with
	// probability 2^-69.
	IndexSize = 16
	// MACSize is the length of a MAC.
	MACSize = sha256.Size
)

// Labels that keep the uses of one secret apart. They are part of every stored index, MAC and fingerprint: never change
// one.
const (
	labelIndex = "vigia index 1: "
	labelMAC   = "vigia mac 1: "
	labelMatch = "vigia match 1: "
	labelPair  = "vigia pair 1"
	labelTable = "vigia table 1"
	labelVeil  = "vigia veil 1: "
	labelBind  = "vigia bind 1"
)

// BlindIndex returns a keyed hash of value, by which a row can be found without opening it: the same field, partner and
// value always give the same IndexSize bytes, and nothing links values of two fields or two partners. field is a
// constant of the program (a key is kept for each), value is already normalised.
func (k *Keys) BlindIndex(field, partner string, value []byte) []byte {
	h := k.index.keyedHash(field)
	writePart(h, []byte(partner))
	h.Write(value) // last part: needs no length
	return h.Sum(nil)[:IndexSize:IndexSize]
}

// MAC returns a MACSize-byte keyed hash of the parts under a key of its own for the purpose, a constant of the program.
// Parts keep their bounds: ("ab", "c") and ("a", "bc") differ.
func (k *Keys) MAC(purpose string, data ...[]byte) []byte {
	h := k.macs.keyedHash(purpose)
	for _, part := range data {
		writePart(h, part)
	}
	return h.Sum(nil)
}

// bindingKey returns a keyed hash over all secrets that do not rotate: with wrong ones nothing would fail, look-ups
// would merely find nothing.
func (m *material) bindingKey() (key [secretSize]byte) {
	h := hmac.New(sha256.New, m.MAC.Key)
	h.Write([]byte(labelBind))
	h.Write(m.Index.Key) // fixed lengths, checked when the ring was read: the bounds are certain
	h.Write(m.Match.Key)
	h.Sum(key[:0])
	return key
}

// deriver makes and keeps one HMAC key per name from a master secret.
type deriver struct {
	secret []byte
	label  string
	keys   sync.Map // name -> key
}

// newDeriver returns a deriver that keeps a copy of the secret: the caller clears its own.
func newDeriver(secret []byte, label string) *deriver {
	return &deriver{secret: append([]byte(nil), secret...), label: label}
}

// keyedHash returns HMAC-SHA-256 under the key for name. HMAC of a uniform secret is a key derivation by itself: HKDF
// would first whiten what is random already.
func (d *deriver) keyedHash(name string) hash.Hash {
	key, ok := d.keys.Load(name)
	if !ok {
		h := hmac.New(sha256.New, d.secret)
		h.Write([]byte(d.label + name))
		key, _ = d.keys.LoadOrStore(name, h.Sum(nil))
	}
	raw, _ := key.([]byte) // only keys are stored
	return hmac.New(sha256.New, raw)
}

// writePart writes a part with its length in front, so that parts keep their bounds.
func writePart(h hash.Hash, part []byte) {
	h.Write(binary.AppendUvarint(make([]byte, 0, binary.MaxVarintLen64), uint64(len(part))))
	h.Write(part)
}

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

// veilRounds of a Feistel network, keyed as SipHash is, make a permutation that cannot be told from a random one even
// by an attacker who chooses values in both directions (Luby and Rackoff). Here an attacker cannot choose: what is
// veiled is a keyed hash.
const veilRounds = 4

// Veil hides fingerprints as one partner keeps them: a permutation of the 64-bit numbers under a key of the partner's
// own. Equal values of one partner stay equal, those of two partners have nothing in common.
type Veil struct{ key sipKey }

func (k *Keys) PartnerVeil(partner string) Veil {
	if key, ok := k.match.veils.Load(partner); ok {
		v, _ := key.(Veil) // only veils are stored
		return v
	}
	v := Veil{newSipKey(k.match.secret, []byte(labelVeil+partner))}
	k.match.veils.Store(partner, v)
	return v
}

func (v Veil) HideFingerprint(fingerprint uint64) uint64 {
	left, right := uint32(fingerprint>>32), uint32(fingerprint)
	for round := range byte(veilRounds) {
		left, right = right, left^v.feistelRound(round, right)
	}
	return uint64(left)<<32 | uint64(right)
}

// ShowFingerprint undoes Hide.
func (v Veil) ShowFingerprint(hidden uint64) uint64 {
	left, right := uint32(hidden>>32), uint32(hidden)
	for round := byte(veilRounds); round > 0; round-- {
		left, right = right^v.feistelRound(round-1, left), left
	}
	return uint64(left)<<32 | uint64(right)
}

// feistelRound is one round of the Feistel network.
func (v Veil) feistelRound(number byte, half uint32) uint32 {
	var msg [5]byte
	msg[0] = number
	binary.LittleEndian.PutUint32(msg[1:], half)
	return uint32(v.key.hashMessage(msg[:])) // half of the hash is what a round needs
}
