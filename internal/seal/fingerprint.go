package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"sync"
)

// Fingerprint returns the 64-bit keyed fingerprint by which leaked and watched values are matched: the first eight bytes of
// AES-256-CMAC over kind and value under the match key, big endian. It is the same for all partners. kind keeps apart, say, a
// phone number and a CPF of the same digits; value is already normalised. It allocates nothing.
func (k *Keys) Fingerprint(kind byte, value []byte) uint64 { return k.match.fingerprint(kind, value) }

// matcher is AES-CMAC (RFC 4493) under the match key, written out because tink's takes and returns slices it allocates and
// this runs for every identifier of every dump.
type matcher struct {
	block  cipher.Block
	k1, k2 [aes.BlockSize]byte
	idle   sync.Pool
}

// cmac is a CMAC being computed. It lives in a pool because what is passed to cipher.Block escapes to the heap.
type cmac struct {
	x    [aes.BlockSize]byte
	used int // bytes of the current block already mixed into x
}

func newMatcher(key []byte) (*matcher, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("seal: match key: %w", err)
	}
	m := &matcher{block: block}
	m.idle.New = func() any { return new(cmac) }
	block.Encrypt(m.k1[:], m.k1[:])
	double(&m.k1)
	m.k2 = m.k1
	double(&m.k2)
	return m, nil
}

// double multiplies by x in GF(2^128), as RFC 4493 makes its subkeys.
func double(b *[aes.BlockSize]byte) {
	hi, lo := binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])
	carry := hi >> 63
	binary.BigEndian.PutUint64(b[:8], hi<<1|lo>>63)
	binary.BigEndian.PutUint64(b[8:], lo<<1^carry*0x87)
}

func (m *matcher) fingerprint(kind byte, value []byte) uint64 {
	c, _ := m.idle.Get().(*cmac)
	// The first block is mixed into zeros, so it can be copied: most values end here or in the next block.
	c.x[0] = kind
	c.used = 1 + copy(c.x[1:], value)
	m.add(c, value[c.used-1:])
	m.finish(c)
	f := binary.BigEndian.Uint64(c.x[:])
	*c = cmac{}
	m.idle.Put(c)
	return f
}

// add mixes p in. A full block is encrypted only when more follows, as the last one is treated apart.
func (m *matcher) add(c *cmac, p []byte) {
	for len(p) > 0 {
		if c.used == aes.BlockSize {
			m.block.Encrypt(c.x[:], c.x[:])
			c.used = 0
		}
		n := subtle.XORBytes(c.x[c.used:], c.x[c.used:], p)
		c.used += n
		p = p[n:]
	}
}

// finish leaves the tag in c.x.
func (m *matcher) finish(c *cmac) {
	last := &m.k1
	if c.used < aes.BlockSize {
		c.x[c.used] ^= 0x80
		last = &m.k2
	}
	subtle.XORBytes(c.x[:], c.x[:], last[:])
	m.block.Encrypt(c.x[:], c.x[:])
}
