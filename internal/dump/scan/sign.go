package scan

import "math/bits"

// readSigns reads what is told by a sign in b[from:limit], a stretch that is marked: addresses, whose '@' is written
// %40 in URLs, keys by their punctuation, and what has to be decoded.
func (s *finder) readSigns(b []byte, from, limit int) {
	for first := 0; first < stretch/64; first += 6 { // of which there are eleven
		six := (*[6]uint64)(s.marks.signs[first:])
		if six[0]|six[1]|six[2]|six[3]|six[4]|six[5] == 0 { // as in most of a text with little in it
			continue
		}
		for w, signs := range six {
			for ; signs != 0; signs &= signs - 1 {
				at := from + (first+w)*64 + bits.TrailingZeros64(signs)
				if at >= limit {
					return
				}
				if b[at] == '@' {
					s.readEmail(b, at, at+1)
				} else {
					s.otherSign(b, at)
				}
			}
		}
	}
}

// otherSign reads what is told by the sign at b[at], which is no '@'. The most frequent ones come first.
func (s *finder) otherSign(b []byte, at int) {
	switch c := b[at]; {
	case bracket[c]: // (11), [0]: few are (at)
		if at+2 < len(b) && afterBracket[b[at+1]] && (b[at+1] == ' ' || b[at+2]|0x20 >= 'o' && b[at+2]|0x20 <= 'u') {
			s.noteHint(b, at)
		}
	case c == '-' || c == '/':
		s.readKey(b, at)
	case c == '%' && at+3 <= len(b) && b[at+1] == '4' && b[at+2] == '0':
		s.readEmail(b, at, at+3)
	case c == 0xa0:
		if at > 0 && b[at-1] == 0xc2 {
			s.noteHint(b, at)
		}
	default:
		s.noteHint(b, at)
	}
}

// bracket has the opening ones, and afterBracket what the words that are decoded begin with in them: at, arroba, dot,
// ponto, punto.
var bracket = [256]bool{'(': true, '[': true, '{': true}

var afterBracket = [256]bool{' ': true, 'a': true, 'A': true, 'd': true, 'D': true, 'p': true, 'P': true}
