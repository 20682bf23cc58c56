//go:build !amd64

package intake

func (b *passwordBlock) prefixes() [lanes]uint64 { return b.prefixesPortable() }
