package scan

import "golang.org/x/sys/cpu"

//go:noescape
func digitBitsAVX2(dst *uint32, src *byte, words int)

// digitWords fills dst with the digit bits of src, 32 bytes a word. src has at least as many bytes as dst has bits.
func digitWords(dst []uint32, src []byte) {
	if cpu.X86.HasAVX2 && len(dst) > 0 {
		digitBitsAVX2(&dst[0], &src[:len(dst)*stride][0], len(dst))
		return
	}
	digitWordsPortable(dst, src)
}
