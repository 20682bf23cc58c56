package seal

import (
	"bytes"
	"crypto/aes"
	"math/rand/v2"
	"testing"
)

// Many blocks at once must come out as crypto/aes has them one by one, whatever the length of the key and the number of
// blocks.
func TestBlocksAreThoseOfCryptoAES(t *testing.T) {
	rnd := rand.NewChaCha8([32]byte{1})
	for _, size := range []int{16, 24, 32} {
		for n := range 40 {
			key, plain := make([]byte, size), make([]byte, n*aes.BlockSize)
			_, _ = rnd.Read(key)
			_, _ = rnd.Read(plain)
			ref, err := aes.NewCipher(key)
			if err != nil {
				t.Fatal(err)
			}
			c, err := newBlockCipher(key)
			if err != nil {
				t.Fatal(err)
			}
			blocks := make([]words, n, n+1)
			for i := range blocks {
				blocks[i] = load(plain[i*aes.BlockSize:])
			}
			c.encrypt(blocks, new([aes.BlockSize]byte))
			got, want := make([]byte, len(plain)), make([]byte, len(plain))
			for i, w := range blocks {
				w.store(got[i*aes.BlockSize:])
				ref.Encrypt(want[i*aes.BlockSize:], plain[i*aes.BlockSize:])
			}
			if !bytes.Equal(got, want) {
				t.Fatalf("key of %d bytes, %d blocks:\n%x, crypto/aes has\n%x", size, n, got, want)
			}
			if blocks[:n+1][n] != (words{}) {
				t.Fatalf("%d blocks: one too many was written", n)
			}
		}
	}
}
