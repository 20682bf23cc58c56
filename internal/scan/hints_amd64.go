package scan

import "golang.org/x/sys/cpu"

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
