package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"fmt"
	"sync"
)

// Fingerprint returns the 64-bit keyed fingerprint by which leaked and watched values are matched: the first eight bytes of
// AES-256-CMAC over kind and value under the match key, big endian. It is the same for all partners. kind keeps apart, say, a
// phone number and a CPF of the same digits; value is already normalised. It allocates nothing.
func (k *Keys) Fingerprint(kind byte, value []byte) uint64 {
	c, _ := k.match.idle.Get().(*cmac)
	f := c.sum(kind, value)
	k.match.idle.Put(c)
	return f
}

// Fingerprinter returns a function that does the same a little faster, for one goroutine that asks millions of times.
func (k *Keys) Fingerprinter() func(kind byte, value []byte) uint64 {
	return (&cmac{matcher: k.match}).sum
}

// matcher is AES-CMAC (RFC 4493) under the match key, written out because tink's takes and returns slices it allocates and
// this runs for every identifier of every dump.
type matcher struct {
	block  cipher.Block
	k1, k2 [aes.BlockSize]byte
	idle   sync.Pool
}

// cmac is room to compute in. It is kept because what is passed to cipher.Block escapes to the heap.
type cmac struct {
	*matcher
	x, last [aes.BlockSize]byte
}

func newMatcher(key []byte) (*matcher, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("seal: match key: %w", err)
	}
	m := &matcher{block: block}
	m.idle.New = func() any { return &cmac{matcher: m} }
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

// sum computes a tag and returns its first eight bytes.
func (c *cmac) sum(kind byte, value []byte) uint64 {
	// The first block is mixed into zeros, so it can be copied: most values end here or in the next block.
	c.last = [aes.BlockSize]byte{kind}
	used := 1 + copy(c.last[1:], value)
	value = value[used-1:]
	c.x = [aes.BlockSize]byte{}
	for len(value) > 0 { // a full block is encrypted only when more follows, as the last one is treated apart
		xor(&c.x, &c.last)
		c.block.Encrypt(c.x[:], c.x[:])
		c.last = [aes.BlockSize]byte{}
		used = copy(c.last[:], value)
		value = value[used:]
	}
	key := &c.k1
	if used < aes.BlockSize {
		c.last[used] = 0x80
		key = &c.k2
	}
	xor(&c.x, &c.last)
	xor(&c.x, key)
	c.block.Encrypt(c.x[:], c.x[:])
	return binary.BigEndian.Uint64(c.x[:])
}

func xor(x, y *[aes.BlockSize]byte) {
	order := binary.NativeEndian
	order.PutUint64(x[:8], order.Uint64(x[:8])^order.Uint64(y[:8]))
	order.PutUint64(x[8:], order.Uint64(x[8:])^order.Uint64(y[8:]))
}
