//go:build !amd64

package scan

// digitBits fills dst with the digit bits of src, which has at least as many bytes as dst has bits.
func digitBits(dst, src []byte) { digitBitsPortable(dst, src) }
