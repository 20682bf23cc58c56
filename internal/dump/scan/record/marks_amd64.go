package record

import "golang.org/x/sys/cpu"

//go:noescape
func markAVX2(lines, signs *uint64, src *byte, words int)

// markBlocks fills lines and signs, which are of one length, with the bits of src, which has 64 bytes for each of their words.
func markBlocks(lines, signs []uint64, src []byte) {
	if cpu.X86.HasAVX2 && len(lines) > 0 {
		markAVX2(&lines[0], &signs[:len(lines)][0], &src[:len(lines)*64][0], len(lines))
		return
	}
	markPortable(lines, signs, src)
}
