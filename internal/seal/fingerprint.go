package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
)

// Fingerprint returns the 64-bit keyed fingerprint by which leaked and watched values are matched: the first eight bytes of
// AES-256-CMAC over kind and value under the match key, big endian. It is the same for all partners. kind keeps apart, say, a
// phone number and a CPF of the same digits; value is already normalised. It allocates nothing.
func (k *Keys) Fingerprint(kind byte, value []byte) uint64 {
	f, _ := k.match.idle.Get().(*Fingerprints)
	f.Add(kind, value)
	var sum [1]uint64
	f.AppendTo(sum[:0])
	k.match.idle.Put(f)
	return sum[0]
}

// Fingerprints computes many fingerprints at once, for one goroutine.
func (k *Keys) Fingerprints() *Fingerprints { return &Fingerprints{matcher: k.match} }

// matcher is AES-CMAC (RFC 4493) under the match key, written out because tink's takes and returns slices it allocates and
// this runs for every identifier of every dump.
type matcher struct {
	block  cipher.Block
	k1, k2 words
	idle   sync.Pool
}

// words are a block as two numbers, its first byte the lowest of lo: blocks are put together in registers.
type words struct{ lo, hi uint64 }

// Fingerprints collects values and computes their fingerprints together. That takes half the time of one by one: what was stored in
// one shape and is loaded in another at once makes the processor wait, and the next value with it.
type Fingerprints struct {
	*matcher
	// blocks are what is to be encrypted, one value after the other, the last block of each already mixed with its subkey. They lie in a
	// slice because what is passed to cipher.Block escapes to the heap.
	blocks []byte
	values []chain
	more   []chain
}

// chain is where the blocks of a value begin in blocks: the one to be encrypted and the last.
type chain struct{ next, last int }

func newMatcher(key []byte) (*matcher, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("seal: match key: %w", err)
	}
	m := &matcher{block: block}
	m.idle.New = func() any { return &Fingerprints{matcher: m} }
	var k [aes.BlockSize]byte
	block.Encrypt(k[:], k[:])
	double(&k)
	m.k1 = load(k[:])
	double(&k)
	m.k2 = load(k[:])
	return m, nil
}

// double multiplies by x in GF(2^128), as RFC 4493 makes its subkeys.
func double(b *[aes.BlockSize]byte) {
	hi, lo := binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])
	carry := hi >> 63
	binary.BigEndian.PutUint64(b[:8], hi<<1|lo>>63)
	binary.BigEndian.PutUint64(b[8:], lo<<1^carry*0x87)
}

func load(b []byte) words {
	return words{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}
}

func (w words) store(b []byte) {
	binary.LittleEndian.PutUint64(b, w.lo)
	binary.LittleEndian.PutUint64(b[8:], w.hi)
}

func (w words) xor(x words) words { return words{w.lo ^ x.lo, w.hi ^ x.hi} }

// Len is how many values were added since the last AppendTo.
func (f *Fingerprints) Len() int { return len(f.values) }

// Add takes a value, which may be changed afterwards.
func (f *Fingerprints) Add(kind byte, value []byte) {
	first, n := len(f.blocks), len(value)
	last := first + n&^(aes.BlockSize-1) // with kind there are n+1 bytes
	f.values = append(f.values, chain{first, last})
	f.blocks = slices.Grow(f.blocks, last+aes.BlockSize-first)[:last+aes.BlockSize]
	if n < aes.BlockSize-1 {
		w := short(value)
		words{w.lo<<8 | uint64(kind), w.hi<<8 | w.lo>>56}.pad(n + 1).xor(f.k2).store(f.blocks[first:])
		return
	}
	w := words{binary.LittleEndian.Uint64(value)<<8 | uint64(kind), binary.LittleEndian.Uint64(value[7:])}
	if first == last {
		w.xor(f.k1).store(f.blocks[first:])
		return
	}
	w.store(f.blocks[first:])
	rest := value[aes.BlockSize-1:]
	for at := first + aes.BlockSize; at < last; at += aes.BlockSize {
		load(rest).store(f.blocks[at:])
		rest = rest[aes.BlockSize:]
	}
	w, key := load(value[n-aes.BlockSize:]), f.k1
	if m := len(rest); m < aes.BlockSize {
		w, key = w.shift(aes.BlockSize-m).pad(m), f.k2
	}
	w.xor(key).store(f.blocks[last:])
}

// AppendTo appends the fingerprints of the values, in the order they were added, to dst and forgets the values.
func (f *Fingerprints) AppendTo(dst []uint64) []uint64 {
	more := append(f.more[:0], f.values...)
	for len(more) > 0 {
		n := 0
		for _, c := range more {
			b := f.blocks[c.next:][:aes.BlockSize]
			f.block.Encrypt(b, b)
			if c.next < c.last {
				more[n] = chain{c.next + aes.BlockSize, c.last}
				n++
			}
		}
		more = more[:n]
		for _, c := range more {
			load(f.blocks[c.next:]).xor(load(f.blocks[c.next-aes.BlockSize:])).store(f.blocks[c.next:])
		}
	}
	for _, c := range f.values {
		dst = append(dst, binary.BigEndian.Uint64(f.blocks[c.last:]))
	}
	f.blocks, f.values, f.more = f.blocks[:0], f.values[:0], more[:0]
	return dst
}

// short loads fewer than fifteen bytes and zeros.
func short(b []byte) (w words) {
	n := len(b)
	if n >= 8 {
		return words{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[n-8:]) >> (8 * (16 - uint(n)))}
	}
	for i, c := range b {
		w.lo |= uint64(c) << (8 * i)
	}
	return w
}

// shift drops the first n bytes, of sixteen, and appends zeros.
func (w words) shift(n int) words {
	if n >= 8 {
		return words{w.hi >> (8 * (uint(n) - 8)), 0}
	}
	return words{w.lo>>(8*uint(n)) | w.hi<<(64-8*uint(n)), w.hi >> (8 * uint(n))}
}

// pad ends n bytes as RFC 4493 does, with a one and zeros.
func (w words) pad(n int) words {
	if n < 8 {
		w.lo |= 0x80 << (8 * uint(n))
	} else {
		w.hi |= 0x80 << (8 * (uint(n) - 8))
	}
	return w
}
