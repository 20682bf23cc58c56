package seal

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"sync"
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
