package seal

import (
	"encoding/binary"
	"slices"
)

// A sealed value is tink's: one byte that says "tink", the key id in big endian, then nonce, ciphertext and tag.
const (
	// PrefixSize is how many leading bytes of a sealed value name its key.
	PrefixSize = 5
	// Overhead is how much longer a sealed value is than its plaintext: prefix, 24-byte nonce, 16-byte tag.
	Overhead = PrefixSize + 24 + 16

	tinkByte = 1
)

// SealedWith returns which key sealed a value, without opening it. It is false for bytes that Seal cannot have made.
func SealedWith(sealed []byte) (id uint32, ok bool) {
	if len(sealed) < Overhead || sealed[0] != tinkByte {
		return 0, false
	}
	return binary.BigEndian.Uint32(sealed[1:PrefixSize]), true
}

// SealedPrefix returns the first bytes of everything sealed under the key id, so that a query can count and find those
// rows with substr(column, 1, 5).
func SealedPrefix(id uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{tinkByte}, id)
}

// LacksKeyOf reports whether the beginning of a sealed value names a key that this process does not have.
func (k *Keys) LacksKeyOf(prefix []byte) (id uint32, lacks bool) {
	if len(prefix) < PrefixSize || prefix[0] != tinkByte {
		return 0, false
	}
	id = binary.BigEndian.Uint32(prefix[1:PrefixSize])
	return id, !k.ring.Load().holdsKey(id)
}

// PrimaryPrefix returns the Prefix of the key that seals now: rows without it wait to be sealed anew.
func (k *Keys) PrimaryPrefix() []byte { return SealedPrefix(k.PrimaryID()) }

// PrimaryID returns the id of the key that seals now.
func (k *Keys) PrimaryID() uint32 { return k.ring.Load().primary }

// ListKeyIDs returns the ids of all keys that open, oldest first.
func (k *Keys) ListKeyIDs() []uint32 { return slices.Clone(k.ring.Load().ids) }

// SealedByUs reports whether bytes are a value that this process may have sealed, and under which key.
func (k *Keys) SealedByUs(value []byte) (id uint32, ok bool) {
	if id, ok = SealedWith(value); ok {
		_, ok = k.sealedBy.Load(id)
	}
	return id, ok
}
