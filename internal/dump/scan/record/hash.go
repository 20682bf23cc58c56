package record

import (
	"bytes"
	"strings"
)

// maybeHash reports whether what strongHash knows may begin with c.
func maybeHash(c byte) bool { return c == '$' || c == '{' || c == 'p' || c == 'b' }

// strongHash knows what nothing but a password is stored as: bcrypt, argon2, crypt, PHPass, LDAP schemes, Django's.
func strongHash(v []byte) bool {
	if len(v) < 20 || len(v) > 512 {
		return false
	}
	switch v[0] {
	case '$':
		return crypted(v) && bytes.IndexByte(v, ' ') < 0 && bytes.IndexByte(v, '\t') < 0 &&
			bytes.IndexByte(v, '"') < 0 &&
			bytes.IndexByte(v, '\'') < 0
	case '{':
		for _, scheme := range [...]string{"{SSHA", "{SHA", "{MD5", "{SMD5", "{CRYPT", "{PBKDF2", "{ARGON2"} {
			if len(v) > len(scheme) && bytes.EqualFold(v[:len(scheme)], []byte(scheme)) {
				return true
			}
		}
	case 'p', 'b':
		return bytes.HasPrefix(v, []byte("pbkdf2_sha")) || bytes.HasPrefix(v, []byte("pbkdf2:sha")) ||
			bytes.HasPrefix(v, []byte("bcrypt_sha256$"))
	}
	return false
}

// crypted reports whether v, which has at least 20 characters, begins like a crypted password.
func crypted(v []byte) bool {
	switch v[1] {
	case '2':
		return v[3] == '$' && (v[2] == 'a' || v[2] == 'b' || v[2] == 'x' || v[2] == 'y')
	case '1', '5', '6', '7', 'y', 'P', 'H', 'S':
		return v[2] == '$'
	case 'a', 's', 'p':
		return bytes.HasPrefix(v, []byte("$argon2")) || bytes.HasPrefix(v, []byte("$apr1$")) ||
			bytes.HasPrefix(v, []byte("$scrypt$")) ||
			bytes.HasPrefix(v, []byte("$pbkdf2"))
	}
	return false
}

// hexDigest knows MD5, SHA-1, SHA-256 and SHA-512 by their length.
func hexDigest(v []byte) bool {
	switch len(v) {
	case 32, 40, 64, 128:
	default:
		return false
	}
	all := uint8(0)
	for ; len(v) >= 4; v = v[4:] { // it has no rest
		all |= hexOf[v[0]] | hexOf[v[1]] | hexOf[v[2]] | hexOf[v[3]]
	}
	return all == hexDigit|hexLetter
}

const (
	hexDigit uint8 = 1 << iota
	hexLetter
	noHex
)

// hexOf tells hexadecimal digits and letters apart, by byte.
var hexOf = func() (t [256]uint8) {
	for c := range t {
		t[c] = noHex
		if at := strings.IndexByte("0123456789abcdefABCDEF", byte(c)); at >= 0 {
			t[c] = hexDigit << (min(at, 10) / 10)
		}
	}
	return t
}()
