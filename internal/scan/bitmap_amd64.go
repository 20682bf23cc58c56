package scan

import "golang.org/x/sys/cpu"

//go:noescape
func digitBitsAVX2(dst, src *byte, words int)

// digitBits fills dst with the digit bits of src, which has at least as many bytes as dst has bits. The length of dst is a multiple of four.
func digitBits(dst, src []byte) {
	if cpu.X86.HasAVX2 && len(dst) > 0 {
		digitBitsAVX2(&dst[0], &src[:len(dst)*8][0], len(dst)/4)
		return
	}
	digitBitsPortable(dst, src)
}
