//go:build !amd64

package scan

func digitWords(dst []uint32, src []byte) { digitWordsPortable(dst, src) }
