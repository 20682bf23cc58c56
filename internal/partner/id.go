package partner

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/google/uuid"
)

// ID names a partner to people and programs: "pt_" and a UUID. The database knows the partner by a small number, and the
// UUID (of version 8, for uses of one's own) is made from it, so that each is known from the other without asking
// anybody.
type ID string

const idPrefix = "pt_"

// spread and gather are each other's inverse modulo 2^32. They keep an ID from looking like the count of partners; they
// hide nothing.
const (
	spread uint32 = 0x9e3779b1
	gather uint32 = 0x0e8b2f51
)

// NumberedID returns the ID of the partner with a number, from 1 up.
func NumberedID(number int64) ID {
	n := uint32(number)
	var u uuid.UUID
	binary.BigEndian.PutUint32(u[12:], n*spread)
	sum := sha256.Sum256(append([]byte("vigia partner "), u[12:]...))
	copy(u[:12], sum[:])
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80 // version and variant
	return ID(idPrefix + u.String())
}

const nobody = -1

// Number returns the partner's number in the database; 0 for the empty ID. A text that is no partner's ID returns -1,
// which no row has, and not 0, which filters take for all partners.
func (id ID) Number() int64 {
	if id == "" {
		return 0
	}
	if len(id) != len(idPrefix)+36 {
		return nobody
	}
	u, err := uuid.Parse(string(id[len(idPrefix):]))
	if err != nil {
		return nobody
	}
	n := int64(binary.BigEndian.Uint32(u[12:]) * gather)
	if NumberedID(n) != id {
		return nobody
	}
	return n
}
