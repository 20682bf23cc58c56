package seal

import "testing"

// Without the instructions blocks go one by one: the same tests must pass.
func TestWithoutManyBlocks(t *testing.T) {
	was := manyBlocks
	manyBlocks = false
	t.Cleanup(func() { manyBlocks = was })
	for name, test := range map[string]func(*testing.T){
		"blocks": TestBlocksAreThoseOfCryptoAES, "vectors": TestCMACVectors, "tink": TestFingerprintIsTinksCMACCutShort, "allocations": TestFingerprintAllocatesNothing,
	} {
		t.Run(name, test)
	}
}
