package scan

import "golang.org/x/sys/cpu"

// fastAddress says that addressMasksOf may be called. A variable, for the test that compares both ways.
var fastAddress = cpu.X86.HasAVX2

//go:noescape
func addressAVX2(dst, local, domain *byte, out *[2]addressMasks)

// addressMasksOf classifies the 64 bytes before an '@', from local on, and the 64 after it, from domain on, and writes
// them to dst in lower case, the '@' between them.
func addressMasksOf(dst *[margin]byte, local, domain *byte, out *[2]addressMasks) {
	addressAVX2(&dst[0], local, domain, out)
	dst[addressSpan] = '@'
}

//go:noescape
func markAVX2(digits, signs, hyphens, src *byte, words int)

// mark fills digits, signs and hyphens with the bits of src, which has at least as many bytes as each of them has bits.
// All have the same length, a multiple of four.
func mark(digits, signs, hyphens, src []byte) {
	if cpu.X86.HasAVX2 && len(digits) > 0 {
		markAVX2(&digits[0], &signs[:len(digits)][0], &hyphens[:len(digits)][0], &src[:len(digits)*8][0], len(digits)/4)
		return
	}
	markPortable(digits, signs, hyphens, src)
}

//go:noescape
func rhythmsAVX2(places, keys *[steps]uint64, digits, hyphens *bitmap) (keyed bool)

// find marks the places where numbers begin, and those of keys. The byte before the bitmap is read with it.
func (m *marks) find() {
	if cpu.X86.HasAVX2 {
		m.keyed = rhythmsAVX2(&m.places, &m.keys, &m.digits, &m.hyphens)
		return
	}
	m.findPortable()
}
