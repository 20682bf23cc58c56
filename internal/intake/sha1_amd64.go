package intake

import "golang.org/x/sys/cpu"

//go:noescape
func sha1AVX2(block *passwordBlock, first, second *[lanes]uint32)

func (b *passwordBlock) prefixes() (p [lanes]uint64) {
	if !cpu.X86.HasAVX2 {
		return b.prefixesPortable()
	}
	var first, second [lanes]uint32
	sha1AVX2(b, &first, &second)
	for i := range p {
		p[i] = uint64(first[i])<<8 | uint64(second[i])>>24
	}
	return p
}
