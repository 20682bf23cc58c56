package intake

import (
	"crypto/sha1" //nolint:gosec // what passwords are asked about by
	"encoding/binary"
)

const (
	// lanes is how many passwords are digested at once.
	lanes = 8
	// longestPassword is the most bytes that fit one block of SHA-1, with what is put behind them.
	longestPassword = 55
)

// passwordBlock holds passwords as SHA-1 reads them, word by word: word w of each stands beside that of the others, so
// that one instruction is for all of them.
type passwordBlock [16][lanes]uint32

// put writes a password, no longer than the longest, to a lane.
func (b *passwordBlock) put(lane int, password []byte) {
	var text [64]byte
	n := copy(text[:], password)
	text[n] = 0x80
	lane %= lanes
	for w := range b {
		b[w][lane] = binary.BigEndian.Uint32(text[4*w:])
	}
	b[15][lane] = uint32(8 * n)
}

// prefixesPortable is prefixes for processors without a faster way: the first 40 bits of the SHA-1 of each lane.
func (b *passwordBlock) prefixesPortable() (p [lanes]uint64) {
	for lane := range p {
		var text [64]byte
		for w := range b {
			binary.BigEndian.PutUint32(text[4*w:], b[w][lane])
		}
		p[lane] = passwordPrefix(text[:min(b[15][lane]/8, longestPassword)])
	}
	return p
}

func passwordPrefix(password []byte) uint64 {
	sum := sha1.Sum(password) //nolint:gosec // see above
	return binary.BigEndian.Uint64(sum[:]) >> 24
}
