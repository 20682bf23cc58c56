//go:build !amd64

package scan

// mark fills digits, signs and hyphens with the bits of src, which has at least as many bytes as each of them has bits.
func mark(digits, signs, hyphens, src []byte) { markPortable(digits, signs, hyphens, src) }

// find marks the places where numbers begin, and those of keys.
func (m *marks) find() { m.findPortable() }

// fastAddress says that addressMasksOf may be called.
const fastAddress = false

func addressMasksOf(*[margin]byte, *byte, *byte, *[2]addressMasks) {}
