package scan

import (
	"bytes"

	"github.com/vigiahq/vigia/internal/identifier"
)

// Where the hyphens of a UUID stand, and the punctuation of 12.345.678/0001-95, from the hyphen that is marked.
const (
	uuidBefore, uuidAfter = 13, 23
	cnpjBefore, cnpjAfter = 15, 3
)

// readKey reads the random Pix key or the punctuated CNPJ whose first hyphen or slash stands at b[first], with a hyphen
// keySpan behind it. Only that one of a key counts, so that of two pieces of a stream only one has it. A UUID may be
// anything, so it counts where something says that it is a key.
func (s *finder) readKey(b []byte, first int) {
	at := first + keySpan
	switch {
	case at < uuidBefore:
	case b[first] == '-':
		if at+uuidAfter <= len(b) && b[at+1] == '4' && b[at+5] == '-' && b[at+10] == '-' {
			s.readUUID(b, at-uuidBefore, at+uuidAfter)
		}
	default:
		if at >= cnpjBefore && at+cnpjAfter <= len(b) && b[at-9] == '.' && b[at-13] == '.' {
			s.writtenCNPJ(b, at-cnpjBefore, at+cnpjAfter)
		}
	}
}

// readUUID reads a random Pix key.
func (s *finder) readUUID(b []byte, from, to int) {
	if partOfWord(b, from, to) {
		return
	}
	normal, ok := identifier.AppendPixKey(s.text[:0], b[from:to])
	switch {
	case !ok:
	case saysPix(b, from):
		s.addSign(identifier.PixKey, normal, from, to)
	default:
		s.addWeak(identifier.PixKey, normal, from, to)
	}
}

// writtenCNPJ emits a CNPJ that is written with its dots, slash and dash, if it stands alone and its check digits are
// right. New numbers may hold letters.
func (s *finder) writtenCNPJ(b []byte, from, to int) {
	if partOfWord(b, from, to) {
		return
	}
	t, n := b[from:to], s.text[:0]
	for i, c := range t {
		if i != 2 && i != 6 && i != 10 && i != 15 {
			if c >= 'a' && c <= 'z' {
				c -= 'a' - 'A'
			}
			n = append(n, c)
		}
	}
	if identifier.ValidCNPJ(n) {
		s.addSign(identifier.CNPJ, n, from, to)
	}
}

// partOfWord reports whether b[from:to] goes on to either side.
func partOfWord(b []byte, from, to int) bool {
	const goesOn = letter | digit
	return from > 0 && (class[b[from-1]]&goesOn != 0 || b[from-1] == '-') && !afterEscape(b, from) ||
		to < len(b) && (class[b[to]]&goesOn != 0 || b[to] == '-')
}

// afterEscape reports whether what stands before b[i] is \n, \t or the like.
func afterEscape(b []byte, i int) bool {
	return i >= 2 && b[i-2] == '\\' && (b[i-1] == 'n' || b[i-1] == 't' || b[i-1] == 'r')
}

// pixReach is how many bytes before a UUID, in its line, are searched for a word that marks it as a Pix key. It can be
// wide: a UUID taken for a key by mistake never equals a watched one, so it causes no false alert.
const pixReach = 64

// pixWords stand near random Pix keys; without one an UUID is taken for some other id.
var pixWords = [...]string{"pix", "evp", "aleat"}

// saysPix reports whether a word before position i, in its line, marks what follows as a Pix key.
func saysPix(b []byte, i int) bool {
	var room [pixReach]byte
	text := foldedBefore(room[:], b, i, "\n")
	for _, w := range pixWords {
		if bytes.Contains(text, []byte(w)) {
			return true
		}
	}
	return false
}

// foldedBefore returns what stands before b[i], as far as room goes and behind the last of the ends, in small letters.
func foldedBefore(room, b []byte, i int, ends string) []byte {
	text := room[:copy(room, b[max(0, i-len(room)):i])]
	text = text[bytes.LastIndexAny(text, ends)+1:]
	for k, c := range text {
		text[k] = lower[c]
	}
	return text
}
