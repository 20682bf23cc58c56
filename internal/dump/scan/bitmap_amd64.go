package scan

import "golang.org/x/sys/cpu"

// fastAddress says that shapeOf may be called. A variable, for the test that compares both ways.
var fastAddress = cpu.X86.HasAVX2 && cpu.X86.HasBMI2

//go:noescape
func addressAVX2(dst, local, domain *byte, out *addressShape)

// shapeOf judges the 32 bytes before an '@', from local on, and the 32 after it, from domain on, and writes them to dst in
// lower case, the '@' between them.
func shapeOf(dst *[margin]byte, local, domain *byte, out *addressShape) {
	addressAVX2(&dst[0], local, domain, out)
	dst[addressSpan] = '@'
}

//go:noescape
func markAVX2(digits *byte, signs *uint64, src *byte, words int)

// markBytes fills digits and signs, which have as many bits, with those of src, which has a byte for each and keySpan more.
func markBytes(digits []byte, signs []uint64, src []byte) {
	if cpu.X86.HasAVX2 && len(signs) > 0 {
		markAVX2(&digits[:len(signs)*8][0], &signs[0], &src[:len(signs)*64+keySpan][0], len(signs))
	} else {
		markPortable(digits, signs, src)
	}
}

//go:noescape
func rhythmsAVX2(places *[steps]uint64, digits *bitmap)

// findNumbers marks the places where numbers begin. The byte before the bitmap is read with it.
func (m *marks) findNumbers() {
	if cpu.X86.HasAVX2 {
		rhythmsAVX2(&m.places, &m.digits)
	} else {
		m.findPortable()
	}
}

//go:noescape
func hintsAVX2(out, src, tables *byte, words int) (any uint32)

// findHints sets a bit of out for each byte of src that begins a hint, and says whether there is any. src has a byte more than
// out has bits; the length of out is a multiple of four.
func findHints(out, src []byte) (any bool) {
	if cpu.X86.HasAVX2 && len(out) > 0 {
		return hintsAVX2(&out[0], &src[:len(out)*8+1][0], &hintTable[0][0], len(out)/4) != 0
	}
	return hintsPortable(out, src)
}
