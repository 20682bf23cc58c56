package passkey

import "encoding/hex"

// lowOrder are the encodings of the points of Ed25519 whose order divides 8, without the sign of x. Under such a key one
// signature fits many messages, so whoever registers one lets others in. Two of the points have a second encoding.
var lowOrder = func() map[[32]byte]bool {
	set := map[[32]byte]bool{}
	for _, text := range []string{
		"0000000000000000000000000000000000000000000000000000000000000000",
		"0100000000000000000000000000000000000000000000000000000000000000",
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
		"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	} {
		raw, _ := hex.DecodeString(text)
		set[[32]byte(raw)] = true
	}
	return set
}()

// hasLowOrder reports whether an Ed25519 public key of 32 bytes is a point of low order.
func hasLowOrder(key []byte) bool {
	y := [32]byte(key)
	y[31] &= 0x7f
	return lowOrder[y]
}
