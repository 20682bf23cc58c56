//go:build !amd64

package record

// markBlocks fills lines and signs, which are of one length, with the bits of src, which has 64 bytes for each of their words.
func markBlocks(lines, signs []uint64, src []byte) { markPortable(lines, signs, src) }
