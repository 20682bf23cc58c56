package partner

import (
	"encoding/base64"
	"encoding/hex"
	"strings"

	"golang.org/x/crypto/blake2b"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// ErrUserHash means that a userHash is not 1 to 256 printable characters.
var ErrUserHash = fault.New(fault.Invalid, "user_hash.invalid")

// MaxUserHash bounds a userHash, in characters.
const MaxUserHash = 256

// UserHash is a person's name in the cyber area, as a partner sent it.
//
// The contract leaves the digest's length and encoding open, so a BLAKE2b digest of 256 or 512 bits in hex or base64 is
// recognised in any spelling. Any other string is a user of its own, compared byte for byte.
type UserHash string

// ParseUserHash checks length and characters. field names the place in the request for the caller.
func ParseUserHash(field, s string) (UserHash, error) {
	switch {
	case !IsPrintable(s, MaxUserHash):
		return "", ErrUserHash.With(field, fault.PrintableLength, MaxUserHash)
	case IsDotSegment(s):
		return "", ErrUserHash.With(field, fault.DotPath)
	case s == reservedSegment:
		return "", ErrUserHash.With(field, fault.ReservedPath, reservedSegment)
	}
	return UserHash(s), nil
}

// reservedSegment is refused as a user hash: paths use it in the place of one, so such a person could be added but
// never be read.
const reservedSegment = "extra"

// IsDotSegment reports whether s is "." or "..": clients resolve these away before they send a path, encoded or not, so
// what is named so could be created by a body and never be asked for.
func IsDotSegment(s string) bool { return s == "." || s == ".." }

// Canonical returns the same bytes for every spelling of one digest. The first byte tells digests from plain strings,
// so that no string can pose as a digest.
func (u UserHash) Canonical() []byte {
	if d := u.Digest(); d != nil {
		return append([]byte{'d'}, d...)
	}
	return append([]byte{'s'}, u...)
}

// Digest returns the bytes of a digest, 32 or 64 of them, and nil for any other string.
func (u UserHash) Digest() []byte {
	s := string(u)
	switch len(s) {
	case 64, 128:
		if d, err := hex.DecodeString(s); err == nil {
			return d
		}
	}
	// The unpadded lengths of 32 and 64 bytes in base64.
	bare := strings.TrimRight(s, "=")
	if len(bare) != 43 && len(bare) != 86 || len(s) != len(bare) && len(s)%4 != 0 {
		return nil
	}
	enc := base64.RawStdEncoding
	if strings.ContainsAny(bare, "-_") {
		enc = base64.RawURLEncoding
	}
	d, err := enc.Strict().DecodeString(bare)
	if err != nil {
		return nil
	}
	return d
}

// PersonDigests returns the canonical forms of both digests of a person: BLAKE2b of the CPF's digits followed by the
// salt.
func PersonDigests(cpf, salt string) (d256, d512 []byte) {
	text := []byte(cpf + salt)
	short, long := blake2b.Sum256(text), blake2b.Sum512(text)
	return append([]byte{'d'}, short[:]...), append([]byte{'d'}, long[:]...)
}

// LongUserHash returns the user hash of a person in the spelling that the service itself uses: 512 bits in hex.
func LongUserHash(cpf, salt string) UserHash {
	_, d512 := PersonDigests(cpf, salt)
	return UserHash(hex.EncodeToString(d512[1:])) // without the mark of a canonical form
}
