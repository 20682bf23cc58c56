package passkey

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// The flags of authenticator data that count here.
const (
	userPresent    = 1 << 0
	userVerified   = 1 << 2
	backupEligible = 1 << 3
	backedUp       = 1 << 4
	hasCredential  = 1 << 6
	hasExtensions  = 1 << 7
)

// report is what an authenticator says.
type report struct {
	flags byte
	count uint32
	// id and key are those of a new credential.
	id, key []byte
}

func (r report) has(flag byte) bool { return r.flags&flag != 0 }

// report reads authenticator data to their last byte. They hold a credential when one was made, and only then.
func (s Site) report(data []byte, made bool) (r report, err error) {
	const fixed, model = sha256.Size + 1 + 4, 16
	if len(data) < fixed {
		return r, errors.New("authenticator data: too short")
	}
	r.flags, r.count = data[sha256.Size], binary.BigEndian.Uint32(data[sha256.Size+1:])
	switch {
	case [sha256.Size]byte(data) != sha256.Sum256([]byte(s.name)):
		return r, errors.New("authenticator data: for another site")
	case !r.has(userPresent):
		return r, errors.New("flags: nobody was present")
	case !r.has(userVerified):
		return r, errors.New("flags: the person was not verified")
	case r.has(backedUp) && !r.has(backupEligible):
		return r, errors.New("flags: backed up, and not eligible for it")
	case r.has(hasCredential) != made:
		return r, errors.New("flags: a credential is there when one is made, and only then")
	}
	rest := data[fixed:]
	if made {
		if len(rest) < model+2 {
			return r, errors.New("authenticator data: too short")
		}
		n := int(binary.BigEndian.Uint16(rest[model:]))
		if rest = rest[model+2:]; n == 0 || n > longestID || n > len(rest) {
			return r, errors.New("credential id: 1 to 1023 bytes")
		}
		r.id, rest = rest[:n], rest[n:]
		_, after, err := item(rest, 0)
		if err != nil {
			return r, fmt.Errorf("public key: %w", err)
		}
		r.key, rest = rest[:len(rest)-len(after)], after
	}
	if r.has(hasExtensions) { // none was asked for: they are read over
		extensions, after, err := item(rest, 0)
		if _, isMap := extensions.(map[any]any); err != nil || !isMap {
			return r, errors.New("extensions: expected a map")
		}
		rest = after
	}
	if len(rest) != 0 {
		return r, errors.New("authenticator data: bytes are left over")
	}
	return r, nil
}
