package scan

import (
	"encoding/binary"
	"math/bits"
)

// What has to be decoded shows itself by signs, which are marked while the digits are, or by pairs of bytes that plain text
// hardly ever has. To look for the pairs takes longer, so beyond the beginning of a text they are looked for in a part of
// each cell only: what is written in base64, in hexadecimal digits or as quoted-printable text is seldom alone.
//
// hintPairs are the pairs, in groups: any first byte of a group with any second one of it. The groups are chosen so that
// the halves of their bytes have no other combinations: nothing else is looked at more closely.
var hintPairs = [8]struct{ first, second string }{
	{"Q", "GH"}, {"EU", "B"}, {"k", "B"}, {"0", "B"}, // an '@' in base64, as the first or second of three bytes
	{"A", "QRSTUVWYZ"}, {"A", "abcde"}, // an '@' in base64, as the third of three, before a letter
	{"=", "425?"}, // =40, =2E, =?
	{"2", "eE"},   // a dot in hexadecimal digits
}

const (
	// wellSeen is how much of a text is looked through as a whole, and sample how much of each cell after it.
	wellSeen = 64 << 10
	sample   = 512
)

// hintTables are what the low and the high half of a first and of a second byte say: a bit for each group.
type hintTables [4][32]byte

var hintTable = func() (t hintTables) {
	for group, pair := range hintPairs {
		for which, set := range [2]string{pair.first, pair.second} {
			for _, c := range []byte(set) {
				for lane := 0; lane < 32; lane += 16 {
					t[2*which][lane+int(c&15)] |= 1 << group
					t[2*which+1][lane+int(c>>4)] |= 1 << group
				}
			}
		}
	}
	return t
}()

// pairGroups returns what both bytes say, a bit for each group.
func pairGroups(a, b byte) byte {
	t := &hintTable
	return t[0][a&15] & t[1][a>>4] & t[2][b&15] & t[3][b>>4]
}

// hintsPortable is hints for processors without a faster way.
func hintsPortable(out, src []byte) (any bool) {
	for k := range out {
		var bits byte
		for n := range 8 {
			if pairGroups(src[k*8+n], src[k*8+n+1]) != 0 {
				bits |= 1 << n
			}
		}
		out[k] = bits
		any = any || bits != 0
	}
	return any
}

// noteHint takes note of the sign at b[at], if it is of something to decode.
func (s *finder) noteHint(b []byte, at int) {
	if !s.isView && (len(s.wanted) == 0 || s.wanted[len(s.wanted)-1] != at) && worthDecoding(b, at) {
		s.wanted = append(s.wanted, at)
	}
}

// hasPair reports whether a pair in b[from:to] is of something to decode.
func (d *decoder) hasPair(b []byte, from, to int) bool {
	to = min(to, len(b)-1) // where a pair begins at most
	whole := max(0, to-from) / 32 * 4
	if whole > 0 && findHints(d.pairs[:whole], b[from:]) {
		for k := 0; k < whole; k += 4 {
			for word := binary.LittleEndian.Uint32(d.pairs[k:]); word != 0; word &= word - 1 {
				if worthPair(b, from+k*8+bits.TrailingZeros32(word)) {
					return true
				}
			}
		}
	}
	for i := from + whole*8; i < to; i++ {
		if pairGroups(b[i], b[i+1]) != 0 && worthPair(b, i) {
			return true
		}
	}
	return false
}
