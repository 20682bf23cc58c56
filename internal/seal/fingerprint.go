package seal

import (
	"crypto/aes"
	"encoding/binary"
	"fmt"
	"math/bits"
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
	cipher *blockCipher
	k1, k2 words
	idle   sync.Pool
}

// Fingerprints collects values and computes their fingerprints together, the first block of all of them, then the second of those that have one, and so
// on: in a chain each block has to wait for the one before it, and the blocks of different values do not.
type Fingerprints struct {
	*matcher
	levels []level
	ends   []end
	buf    [aes.BlockSize]byte
}

// level holds the blocks of all values that are as far from their beginnings, the last one of a value already mixed with its subkey.
type level struct {
	blocks []words
	after  []int32 // which block of the level before comes before each
}

// end is where the last block of a value is.
type end struct{ level, at int32 }

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
func (f *Fingerprints) Len() int { return len(f.ends) }

// Add takes a value, which may be changed afterwards.
func (f *Fingerprints) Add(kind byte, value []byte) {
	n := len(value) // with kind there are n+1 bytes
	if n < aes.BlockSize-1 {
		w := short(value)
		f.put(0, words{w.lo<<8 | uint64(kind), w.hi<<8 | w.lo>>56}.pad(n+1).xor(f.k2))
		f.ends = append(f.ends, end{0, int32(len(f.levels[0].blocks) - 1)})
		return
	}
	w, rest, at := words{binary.LittleEndian.Uint64(value)<<8 | uint64(kind), binary.LittleEndian.Uint64(value[7:])}, value[aes.BlockSize-1:], 0
	for ; len(rest) > aes.BlockSize; at++ {
		f.put(at, w)
		w, rest = load(rest), rest[aes.BlockSize:]
	}
	if m := len(rest); m > 0 {
		f.put(at, w)
		at++
		if w = load(value[n-aes.BlockSize:]); m < aes.BlockSize {
			w = w.shift(aes.BlockSize - m).pad(m).xor(f.k2)
		} else {
			w = w.xor(f.k1)
		}
	} else {
		w = w.xor(f.k1)
	}
	f.put(at, w)
	f.ends = append(f.ends, end{int32(at), int32(len(f.levels[at].blocks) - 1)})
}

// put appends a block, which comes after the last one of the level before.
func (f *Fingerprints) put(at int, w words) {
	if at == len(f.levels) {
		f.levels = append(f.levels, level{})
	}
	l := &f.levels[at]
	l.blocks = append(l.blocks, w)
	if at > 0 {
		l.after = append(l.after, int32(len(f.levels[at-1].blocks)-1))
	}
}

// AppendTo appends the fingerprints of the values, in the order they were added, to dst and forgets the values.
func (f *Fingerprints) AppendTo(dst []uint64) []uint64 {
	for i := range f.levels {
		l := &f.levels[i]
		for k, before := range l.after {
			l.blocks[k] = l.blocks[k].xor(f.levels[i-1].blocks[before])
		}
		f.cipher.encrypt(l.blocks, &f.buf)
	}
	for _, e := range f.ends {
		dst = append(dst, bits.ReverseBytes64(f.levels[e.level].blocks[e.at].lo))
	}
	for i := range f.levels {
		l := &f.levels[i]
		l.blocks, l.after = l.blocks[:0], l.after[:0]
	}
	f.ends = f.ends[:0]
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
