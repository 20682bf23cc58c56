package intake

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // what passwords are asked about by
	"encoding/binary"
)

// pairKeys is a batch of pairs on its way to the one who sorts.
type pairKeys []uint64

// pairCollector turns passwords that stand beside identifiers into pairs. No password outlives the next one.
type pairCollector struct {
	// pair is seal.Keys.Pair; nil: no pairs are wanted.
	pair func(fingerprint, password uint64) uint64
	keys pairKeys
	// flush takes a full batch and returns an empty one.
	flush func(pairKeys) pairKeys
	// last is the password of the record before, of which several identifiers come, and prefix the 40 bits of it.
	last   []byte
	prefix uint64
}

func (c *pairCollector) add(value uint64, password []byte) {
	if !bytes.Equal(password, c.last) {
		c.last = append(c.last[:0], password...)
		sum := sha1.Sum(password) //nolint:gosec // see above
		c.prefix = binary.BigEndian.Uint64(sum[:]) >> 24
	}
	if len(c.keys) == cap(c.keys) {
		c.keys = c.flush(c.keys)
	}
	c.keys = append(c.keys, c.pair(value, c.prefix))
}

// end hands over what is left and forgets the last password.
func (c *pairCollector) end() {
	if len(c.keys) > 0 {
		c.keys = c.flush(c.keys)
	}
	clear(c.last)
	c.last = c.last[:0]
}
