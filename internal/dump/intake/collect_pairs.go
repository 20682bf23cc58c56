package intake

// pairKeys is a batch of pairs on its way to the one who sorts.
type pairKeys []uint64

// pairCollector turns the digests of passwords that stand beside identifiers into pairs.
type pairCollector struct {
	// pair is seal.Keys.Pair; nil: no pairs are wanted.
	pair func(fingerprint, password uint64) uint64
	keys pairKeys
	// flush takes a full batch and returns an empty one.
	flush func(pairKeys) pairKeys
}

// addPasswordPair adds the fingerprint of a value and a password.
func (c *pairCollector) addPasswordPair(value, password uint64) {
	if len(c.keys) == cap(c.keys) {
		c.keys = c.flush(c.keys)
	}
	c.keys = append(c.keys, c.pair(value, password))
}
