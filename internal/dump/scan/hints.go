package scan

// What has to be decoded shows itself by signs, which are marked while the digits are, or by pairs of bytes that plain
// text hardly ever has. To look for the pairs takes longer, so beyond the beginning of a text they are looked for in a
// part of each cell only: what is written in base64, in hexadecimal digits or as quoted-printable text is seldom alone.
//
// hintPairs are the pairs, in groups: any first byte of a group with any second one of it.
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

// firstOfPair and secondOfPair have a bit for each group that a byte is a first or a second one of.
var firstOfPair, secondOfPair = func() (first, second [256]uint8) {
	for group, pair := range hintPairs {
		for _, c := range []byte(pair.first) {
			first[c] |= 1 << group
		}
		for _, c := range []byte(pair.second) {
			second[c] |= 1 << group
		}
	}
	return first, second
}()

// noteHint takes note of the sign at b[at], if it is of something to decode.
func (s *finder) noteHint(b []byte, at int) {
	if !s.isView && (len(s.wanted) == 0 || s.wanted[len(s.wanted)-1] != at) && worthDecoding(b, at) {
		s.wanted = append(s.wanted, at)
	}
}

// hasPair reports whether a pair in b[from:to] is of something to decode.
func (d *decoder) hasPair(b []byte, from, to int) bool {
	to = min(to, len(b)-1) // where a pair begins at most
	if from >= to {
		return false
	}
	first := firstOfPair[b[from]]
	for i, c := range b[from+1 : to+1] {
		if first&secondOfPair[c] != 0 && worthPair(b, from+i) {
			return true
		}
		first = firstOfPair[c]
	}
	return false
}
