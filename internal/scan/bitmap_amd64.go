package scan

import "golang.org/x/sys/cpu"

//go:noescape
func markAVX2(digits, signs, src *byte, words int)

// mark fills digits and signs with the bits of src, which has at least as many bytes as each of them has bits. Both have the same length, a multiple
// of four.
func mark(digits, signs, src []byte) {
	if cpu.X86.HasAVX2 && len(digits) > 0 {
		markAVX2(&digits[0], &signs[:len(digits)][0], &src[:len(digits)*8][0], len(digits)/4)
		return
	}
	markPortable(digits, signs, src)
}
