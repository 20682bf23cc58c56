package passkey

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
)

// The algorithms that are offered, best first, by their numbers in COSE (RFC 9053, RFC 8812): ECDSA on P-256, which all
// authenticators have, Ed25519, and RSA, which some of Windows have alone.
const (
	es256 = -7
	eddsa = -8
	rs256 = -257
)

var algorithms = []int64{es256, eddsa, rs256}

// Labels of COSE keys. What -1 to -3 are depends on the type.
const (
	keyType      int64 = 1
	keyAlgorithm int64 = 3
)

// RSA keys have 2048 bits at least; no authenticator makes longer ones than 4096, and those would only cost time.
const leastModulus, mostModulus = 2048, 4096

// verifier reads a COSE key and returns what judges its signatures. A key has the members that its type needs, and no
// others, as the specification has it.
func verifier(cose []byte) (func(signed, signature []byte) bool, error) {
	m, err := wholeMap(cose)
	if err != nil {
		return nil, fmt.Errorf("public key: %w", err)
	}
	number := func(label int64) int64 { n, _ := m[label].(int64); return n }
	octets := func(label int64) []byte { b, _ := m[label].([]byte); return b }
	is := func(kind, curve int64, members int) bool {
		return number(keyType) == kind && (curve == 0 || number(-1) == curve) && len(m) == members
	}
	switch number(keyAlgorithm) {
	case es256:
		x, y := octets(-2), octets(-3)
		if !is(2, 1, 5) || len(x) != 32 || len(y) != 32 {
			return nil, errors.New("public key: not as ES256 has it")
		}
		key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), slices.Concat([]byte{4}, x, y))
		if err != nil {
			return nil, errors.New("public key: not a point of the curve")
		}
		return func(signed, signature []byte) bool {
			digest := sha256.Sum256(signed)
			return ecdsa.VerifyASN1(key, digest[:], signature)
		}, nil
	case eddsa:
		key := ed25519.PublicKey(octets(-2))
		if !is(1, 6, 4) || len(key) != ed25519.PublicKeySize {
			return nil, errors.New("public key: not as Ed25519 has it")
		}
		if hasLowOrder(key) {
			return nil, errors.New("public key: a point of low order")
		}
		return func(signed, signature []byte) bool { return ed25519.Verify(key, signed, signature) }, nil
	case rs256:
		modulus, exponent := new(big.Int).SetBytes(octets(-1)), new(big.Int).SetBytes(octets(-2))
		if !is(3, 0, 4) || modulus.BitLen() < leastModulus || modulus.BitLen() > mostModulus || modulus.Bit(0) == 0 {
			return nil, errors.New("public key: RSA with 2048 to 4096 bits is expected")
		}
		// FIPS 186-5 asks for an odd one above 2^16; the library takes what fits into 31 bits.
		if !exponent.IsInt64() || exponent.Int64() <= 1<<16 || exponent.Int64() > math.MaxInt32 || exponent.Bit(0) == 0 {
			return nil, errors.New("public key: an exponent of RSA that nobody uses")
		}
		key := &rsa.PublicKey{N: modulus, E: int(exponent.Int64())}
		return func(signed, signature []byte) bool {
			digest := sha256.Sum256(signed)
			return rsa.VerifyPKCS1v15(key, crypto.SHA256, digest[:], signature) == nil
		}, nil
	}
	return nil, errors.New("public key: an algorithm that was not offered")
}
