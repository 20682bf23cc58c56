package seal

import (
	"crypto/aes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"sync"
)

// Fingerprint returns the 64-bit keyed fingerprint by which leaked and watched values are matched: the first eight
// bytes of AES-256-CMAC over kind and value under the match key, big endian. It is the same for all partners. kind
// keeps apart, say, a phone number and a CPF of the same digits; value is already normalised. It allocates nothing.
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

// matcher is AES-CMAC (RFC 4493) under the match key, written out because tink's takes and returns slices it allocates
// and this runs for every identifier of every dump.
type matcher struct {
	cipher *blockCipher
	k1, k2 words
	idle   sync.Pool
}

// Fingerprints collects values and computes their fingerprints together: the first blocks of all values of the same
// length, then the second ones, and so on. In a chain each block has to wait for the one before it; those of different
// values do not.
type Fingerprints struct {
	*matcher
	lengths []chains
	n       int
	buf     [aes.BlockSize]byte
}

// chains are the blocks of all values that have so many of them: the first ones, the second ones, and so on. The last
// ones are already mixed with their subkeys.
type chains [][]words

func newMatcher(key []byte) (*matcher, error) {
	c, err := newBlockCipher(key)
	if err != nil {
		return nil, fmt.Errorf("seal: match key: %w", err)
	}
	m := &matcher{cipher: c}
	m.idle.New = func() any { return &Fingerprints{matcher: m} }
	var k [aes.BlockSize]byte
	c.one.Encrypt(k[:], k[:])
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

// Len is how many values were added since the last AppendTo.
func (f *Fingerprints) Len() int { return f.n }

// Add takes a value, which may be changed afterwards.
func (f *Fingerprints) Add(kind byte, value []byte) {
	f.n++
	n := len(value)
	last := n / aes.BlockSize // with kind there are n+1 bytes
	if last >= len(f.lengths) {
		f.lengthen(last)
	}
	c := f.lengths[last]
	if n < aes.BlockSize-1 {
		w := short(value)
		c[0] = append(c[0], words{w.lo<<8 | uint64(kind), w.hi<<8 | w.lo>>56}.pad(n+1).xor(f.k2))
		return
	}
	w := words{binary.LittleEndian.Uint64(value)<<8 | uint64(kind), binary.LittleEndian.Uint64(value[7:])}
	if last == 0 {
		c[0] = append(c[0], w.xor(f.k1))
		return
	}
	c[0] = append(c[0], w)
	rest := value[aes.BlockSize-1:]
	for k := 1; k < last; k++ {
		c[k] = append(c[k], load(rest))
		rest = rest[aes.BlockSize:]
	}
	w, key := load(value[n-aes.BlockSize:]), f.k1
	if m := len(rest); m < aes.BlockSize {
		w, key = w.shift(aes.BlockSize-m).pad(m), f.k2
	}
	c[last] = append(c[last], w.xor(key))
}

// lengthen makes room for values of more blocks than there were so far.
func (f *Fingerprints) lengthen(last int) {
	for n := len(f.lengths); n <= last; n++ {
		f.lengths = append(f.lengths, make(chains, n+1))
	}
}

// AppendTo appends the fingerprints of the values to dst, shorter values first, and forgets the values.
func (f *Fingerprints) AppendTo(dst []uint64) []uint64 {
	for _, c := range f.lengths {
		if len(c[0]) == 0 {
			continue
		}
		for k, blocks := range c {
			if k > 0 {
				for i, before := range c[k-1] {
					blocks[i] = blocks[i].xor(before)
				}
				c[k-1] = c[k-1][:0]
			}
			f.cipher.encrypt(blocks, &f.buf)
		}
		last := &c[len(c)-1]
		for _, w := range *last {
			dst = append(dst, bits.ReverseBytes64(w.lo))
		}
		*last = (*last)[:0]
	}
	f.n = 0
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
