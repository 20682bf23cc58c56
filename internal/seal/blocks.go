package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"math/bits"
)

// words are a block as two numbers, its first byte the lowest of lo: blocks are put together in registers.
type words struct{ lo, hi uint64 }

func load(b []byte) words {
	return words{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}
}

func (w words) store(b []byte) {
	binary.LittleEndian.PutUint64(b, w.lo)
	binary.LittleEndian.PutUint64(b[8:], w.hi)
}

func (w words) xor(x words) words { return words{w.lo ^ x.lo, w.hi ^ x.hi} }

// blockCipher is AES over many blocks that have nothing to do with each other. crypto/aes takes one at a time, and the
// processor then waits for each round of it; where it has the instructions, eight go through together, which takes a
// sixth of the time.
type blockCipher struct {
	one    cipher.Block
	keys   [mostRounds + 1]words
	rounds int
}

// mostRounds is how many rounds the longest key has.
const mostRounds = 14

func newBlockCipher(key []byte) (*blockCipher, error) {
	one, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	c := &blockCipher{one: one, rounds: len(key)/4 + 6}
	c.expand(key)
	return c, nil
}

// encrypt encrypts blocks in place. buf is on the heap, where what is passed to cipher.Block has to be.
func (c *blockCipher) encrypt(blocks []words, buf *[aes.BlockSize]byte) {
	if manyBlocks && len(blocks) > 0 {
		encryptAES(&c.keys, c.rounds, &blocks[0], len(blocks))
		return
	}
	for i, w := range blocks {
		w.store(buf[:])
		c.one.Encrypt(buf[:], buf[:])
		blocks[i] = load(buf[:])
	}
}

// expand makes the keys of the rounds, as FIPS 197 section 5.2 does.
func (c *blockCipher) expand(key []byte) {
	n, last := len(key)/4, 4*(c.rounds+1)
	w, power := make([]uint32, 0, last), byte(1)
	for k := 0; k < len(key); k += 4 {
		w = append(w, binary.LittleEndian.Uint32(key[k:]))
	}
	for i := n; i < last; i++ {
		next := w[i-1]
		switch {
		case i%n == 0:
			next = substitute(bits.RotateLeft32(next, -8)) ^ uint32(power)
			power = timesX(power)
		case n > 6 && i%n == 4:
			next = substitute(next)
		}
		w = append(w, w[i-n]^next)
	}
	for r := 0; r <= c.rounds; r++ {
		c.keys[r] = words{uint64(w[4*r]) | uint64(w[4*r+1])<<32, uint64(w[4*r+2]) | uint64(w[4*r+3])<<32}
	}
}

// substitute puts each byte of w through the S-box.
func substitute(w uint32) (out uint32) {
	for k := 0; k < 32; k += 8 {
		out |= uint32(sbox(byte(w>>k))) << k
	}
	return out
}

// sbox is the S-box of AES, computed: the inverse in GF(2^8), which is the 254th power, and the affine map after it. It
// runs some fifty times for each key, in the same time whatever the key is.
func sbox(b byte) byte {
	inverse, power := byte(1), b
	for range 7 { // 2 + 4 + ... + 128 = 254
		power = times(power, power)
		inverse = times(inverse, power)
	}
	r := bits.RotateLeft8
	return inverse ^ r(inverse, 1) ^ r(inverse, 2) ^ r(inverse, 3) ^ r(inverse, 4) ^ 0x63
}

// times multiplies in GF(2^8).
func times(a, b byte) (product byte) {
	for range 8 {
		product ^= a & -(b & 1)
		a, b = timesX(a), b>>1
	}
	return product
}

func timesX(a byte) byte { return a<<1 ^ 0x1b&-(a>>7) }
