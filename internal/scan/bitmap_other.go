//go:build !amd64

package scan

// mark fills digits and signs with the bits of src, which has at least as many bytes as each of them has bits.
func mark(digits, signs, src []byte) { markPortable(digits, signs, src) }
