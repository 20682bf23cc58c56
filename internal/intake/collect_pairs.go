package intake

import "bytes"

// pairKeys is a batch of pairs on its way to the one who sorts.
type pairKeys []uint64

// pairCollector turns passwords that stand beside identifiers into pairs, some at a time. No password outlives the next
// few.
type pairCollector struct {
	// pair is seal.Keys.Pair; nil: no pairs are wanted.
	pair func(fingerprint, password uint64) uint64
	keys pairKeys
	// flush takes a full batch and returns an empty one.
	flush func(pairKeys) pairKeys
	// last is the password of the record before, of which several identifiers come.
	last []byte
	// block has the passwords that wait to be digested, so many of them, and waiting the values that stood beside them.
	block     passwordBlock
	passwords int
	waiting   [4 * lanes]waitingPair
	values    int
}

type waitingPair struct {
	value uint64
	lane  int
}

func (c *pairCollector) add(value uint64, password []byte) {
	if len(password) > longestPassword {
		c.put(c.pair(value, passwordPrefix(password)))
		return
	}
	same := c.passwords > 0 && bytes.Equal(password, c.last)
	if c.values == len(c.waiting) || !same && c.passwords == lanes {
		c.digest()
		same = false
	}
	if !same {
		c.last = append(c.last[:0], password...)
		c.block.put(c.passwords, password)
		c.passwords++
	}
	c.waiting[c.values] = waitingPair{value, c.passwords - 1}
	c.values++
}

// digest makes pairs of all that wait.
func (c *pairCollector) digest() {
	prefixes := c.block.prefixes()
	for _, w := range c.waiting[:c.values] {
		c.put(c.pair(w.value, prefixes[w.lane%lanes]))
	}
	c.values, c.passwords, c.block = 0, 0, passwordBlock{}
}

func (c *pairCollector) put(pair uint64) {
	if len(c.keys) == cap(c.keys) {
		c.keys = c.flush(c.keys)
	}
	c.keys = append(c.keys, pair)
}

// end hands over what is left and forgets the last passwords.
func (c *pairCollector) end() {
	c.digest()
	if len(c.keys) > 0 {
		c.keys = c.flush(c.keys)
	}
	clear(c.last)
	c.last, c.block = c.last[:0], passwordBlock{}
}
