package reader

import (
	"encoding/binary"
	"errors"

	"github.com/vigiahq/vigia/internal/dump/scan/record"
	"github.com/vigiahq/vigia/internal/identifier"
)

// Sighting is one identifier with what stood in its record, as a reader found it: see record.Sighting. The bytes are
// valid during the call only.
type Sighting struct {
	Kind        identifier.Kind
	Normal      []byte
	Told, First bool
	Classes     record.Classes
	Site        []byte
	Day         int32
	// Password is the first 40 bits of the SHA-1 of the record's password, if it has one.
	Password    uint64
	HasPassword bool
}

// The first byte of a sighting: its kind, and what there is of it.
const (
	kindBits    = 0x0f
	isTold      = 0x10
	isFirst     = 0x20
	hasPassword = 0x40
	hasLog      = 0x80 // a site or a day
)

// passwordBytes is how much of a password's SHA-1 leaves the reader: 40 bits.
const passwordBytes = 5

// appendSighting writes a sighting: flags, length of the normal form, classes, the password's digest, day and site, and
// the normal form.
func appendSighting(b []byte, s *record.Sighting, password uint64, withPassword bool) []byte {
	flags := byte(s.Kind)
	if s.Told {
		flags |= isTold
	}
	if s.First {
		flags |= isFirst
	}
	if withPassword {
		flags |= hasPassword
	}
	if s.Day != 0 || s.Site != nil {
		flags |= hasLog
	}
	b = append(b, flags, byte(len(s.Normal)), byte(s.Classes), byte(s.Classes>>8))
	if withPassword {
		b = append(b, byte(password>>32), byte(password>>24), byte(password>>16), byte(password>>8), byte(password))
	}
	if flags&hasLog != 0 {
		b = binary.LittleEndian.AppendUint32(b, uint32(s.Day))
		b = append(append(b, byte(len(s.Site))), s.Site...)
	}
	return append(b, s.Normal...)
}

// errFrame ends a reader whose output the parent does not understand; nothing it says is believed then.
var errFrame = errors.New("reader: not a frame of sightings")

// DecodeBatch calls found with the sightings of a Batch.
func DecodeBatch(batch []byte, found func(*Sighting)) error {
	var s Sighting
	for b := batch; len(b) > 0; {
		if len(b) < 4 {
			return errFrame
		}
		flags, n := b[0], int(b[1])
		s = Sighting{
			Kind: identifier.Kind(flags & kindBits), Told: flags&isTold != 0, First: flags&isFirst != 0,
			Classes: record.Classes(b[2]) | record.Classes(b[3])<<8,
		}
		if int(s.Kind) >= identifier.NumKinds {
			return errFrame
		}
		b = b[4:]
		if flags&hasPassword != 0 {
			if len(b) < passwordBytes {
				return errFrame
			}
			s.Password = uint64(b[0])<<32 | uint64(binary.BigEndian.Uint32(b[1:]))
			s.HasPassword, b = true, b[passwordBytes:]
		}
		if flags&hasLog != 0 {
			if len(b) < 5 || len(b) < 5+int(b[4]) {
				return errFrame
			}
			s.Day = int32(binary.LittleEndian.Uint32(b))
			if site := int(b[4]); site > 0 {
				s.Site = b[5 : 5+site]
			}
			b = b[5+int(b[4]):]
		}
		if len(b) < n {
			return errFrame
		}
		s.Normal, b = b[:n], b[n:]
		found(&s)
	}
	return nil
}
