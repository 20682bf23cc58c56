package partner

import (
	"crypto/sha256"
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/google/uuid"
)

// ID names a partner to people and programs: "pt_" and a UUID. The database keeps a random number of 31 bits in its
// place, which takes four bytes at the head of every key instead of 39; the UUID (of version 8, for uses of one's own)
// is made from the number, so that each is known from the other without a query.
type ID string

// idPrefix begins the public id of a partner; its number follows.
const idPrefix = "pt_"

// randomID draws the ID of a new partner.
func randomID(random io.Reader) (ID, error) {
	var drawn [4]byte
	if _, err := io.ReadFull(random, drawn[:]); err != nil {
		return "", err
	}
	number := binary.BigEndian.Uint32(drawn[:]) >> 1 // 31 bits: the database counts with a sign
	return NumberedID(max(int64(number), 1)), nil
}

// NumberedID returns the ID of the partner with a number, from 1 up.
func NumberedID(number int64) ID {
	var u uuid.UUID
	binary.BigEndian.PutUint32(u[12:], uint32(number))
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
	n := int64(binary.BigEndian.Uint32(u[12:]))
	if NumberedID(n) != id {
		return nobody
	}
	return n
}

// Value returns the partner's number, under which the database keeps its rows.
func (id ID) Value() (driver.Value, error) { return id.Number(), nil }

// Scan reads such a number; NULL means no partner.
func (id *ID) Scan(value any) error {
	switch v := value.(type) {
	case int64:
		*id = NumberedID(v)
	case nil:
		*id = ""
	default:
		return fmt.Errorf("a partner's number is a %T", value)
	}
	return nil
}
