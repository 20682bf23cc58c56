package passkey

import (
	"crypto/ed25519"
	"strconv"
	"testing"
)

// TestLowOrderKeysAreRefused: a made-up signature, which no private key stands behind, fits messages under each of these
// keys, with either sign; a passkey cannot have one.
func TestLowOrderKeysAreRefused(t *testing.T) {
	if len(lowOrder) != 7 {
		t.Fatal(len(lowOrder), "encodings")
	}
	signature := make([]byte, ed25519.SignatureSize) // R is the neutral point, S is 0
	signature[0] = 1
	for y := range lowOrder {
		for _, sign := range []byte{0, 0x80} {
			key := append([]byte{}, y[:]...)
			key[31] |= sign
			fits := 0
			for i := range 200 {
				if ed25519.Verify(key, []byte(strconv.Itoa(i)), signature) {
					fits++
				}
			}
			if sign == 0 && fits == 0 {
				t.Errorf("%x is not of low order", key)
			}
			cose := append([]byte{0xa4, 1, 1, 3, 0x27, 0x20, 6, 0x21, 0x58, 32}, key...)
			if _, err := verifier(cose); err == nil {
				t.Errorf("%x is taken; the made-up signature fits %d of 200 messages", key, fits)
			}
		}
	}
	good, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := verifier(append([]byte{0xa4, 1, 1, 3, 0x27, 0x20, 6, 0x21, 0x58, 32}, good...)); err != nil {
		t.Error(err)
	}
}
