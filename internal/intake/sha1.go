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

// put writes a password, no longer than the longest, to a lane that is all zeros: most passwords are short, and the rest of
// it stays as it is.
func (b *passwordBlock) put(lane int, password []byte) {
	lane %= lanes
	b[15][lane] = uint32(8 * len(password))
	w := uint(0)
	for ; len(password) >= 4; w++ {
		b[w%16][lane] = binary.BigEndian.Uint32(password)
		password = password[4:]
	}
	last := uint32(0x80) << 24
	for k := len(password) - 1; k >= 0; k-- {
		last = last>>8 | uint32(password[k])<<24
	}
	b[w%16][lane] = last
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
