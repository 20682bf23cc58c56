package operator

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"encoding/hex"
	"errors"
	"math/big"
	"slices"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"
)

// offeredAlgorithms returns the COSE algorithms for new passkeys, best first: ECDSA on P-256, which all authenticators
// have, Ed25519, and RSA, the only one of some Windows devices.
func offeredAlgorithms() (list []protocol.CredentialParameter) {
	for _, a := range []webauthncose.COSEAlgorithmIdentifier{
		webauthncose.AlgES256,
		webauthncose.AlgEdDSA,
		webauthncose.AlgRS256,
	} {
		list = append(list, protocol.CredentialParameter{Type: protocol.PublicKeyCredentialType, Algorithm: a})
	}
	return list
}

// checkPasskeyKey refuses public keys that the library accepts although anyone could sign under them: points of
// Ed25519 whose order divides 8, under which one signature fits many messages, and short RSA keys.
func checkPasskeyKey(cose []byte) error {
	parsed, err := webauthncose.ParsePublicKey(cose)
	if err != nil {
		return err
	}
	switch key := parsed.(type) {
	case webauthncose.OKPPublicKeyData:
		if len(key.XCoord) != ed25519.PublicKeySize || hasLowOrder(key.XCoord) {
			return errors.New("public key: a point of low order")
		}
	case webauthncose.RSAPublicKeyData:
		modulus, exponent := new(big.Int).SetBytes(key.Modulus), new(big.Int).SetBytes(key.Exponent)
		if modulus.BitLen() < 2048 || modulus.BitLen() > 4096 || modulus.Bit(0) == 0 ||
			exponent.Cmp(big.NewInt(1<<16)) <= 0 ||
			exponent.Bit(0) == 0 {
			return errors.New("public key: RSA with 2048 to 4096 bits and an odd exponent above 2^16 is expected")
		}
	case webauthncose.EC2PublicKeyData:
		_, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), slices.Concat([]byte{4}, key.XCoord, key.YCoord))
		if err != nil {
			return errors.New("public key: not a point of the curve")
		}
	}
	return nil
}

// lowOrderPoints are the encodings of the points of Ed25519 whose order divides 8, without the sign of x. Two of the
// points have a second encoding.
var lowOrderPoints = []string{
	"0000000000000000000000000000000000000000000000000000000000000000",
	"0100000000000000000000000000000000000000000000000000000000000000",
	"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
	"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
	"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
}

// hasLowOrder reports whether an Ed25519 public key of 32 bytes is a point of low order.
func hasLowOrder(key []byte) bool {
	y := bytes.Clone(key)
	y[31] &= 0x7f
	return slices.Contains(lowOrderPoints, hex.EncodeToString(y))
}
