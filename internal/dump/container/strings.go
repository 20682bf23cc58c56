package container

import (
	"io"
	"unicode/utf8"
)

// A run of at least shortestString characters is taken for a text among bytes of which nothing else is known; one of
// longestString is cut.
const (
	shortestString = 6
	longestString  = 64 << 10
)

// textReader hands out texts as next makes them, one after the other.
type textReader struct {
	next func() (text []byte, err error)
	rest []byte
	err  error
}

func (r *textReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		r.rest, r.err = r.next()
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// binaryStrings finds the texts that stand in a binary, of one or two bytes a character, each as a line.
type binaryStrings struct {
	in           io.Reader
	narrow, wide []byte // runs that may go on
	last         byte   // a printable byte whose zero would make it a wide character, or 0
	lines        []byte // to be handed out
}

// nextStrings returns the texts of the next bytes.
func (s *binaryStrings) nextStrings() ([]byte, error) {
	var block [16 << 10]byte
	n, err := s.in.Read(block[:])
	s.lines = s.lines[:0]
	for _, c := range block[:n] {
		s.takeByte(c)
	}
	if err != nil {
		s.takeByte(1) // ends every run
	}
	return s.lines, err
}

// takeByte takes a byte of the run that is being read.
func (s *binaryStrings) takeByte(c byte) {
	isWide := c == 0 && s.last != 0
	if isWide {
		s.wide = utf8.AppendRune(s.wide, rune(s.last))
	}
	if isPrintable(c) {
		s.narrow = append(s.narrow, c)
	}
	if !isPrintable(c) || len(s.narrow) >= longestString {
		s.narrow = s.endRun(s.narrow)
	}
	if !isWide && (s.last != 0 || !isPrintable(c)) || len(s.wide) >= longestString {
		s.wide = s.endRun(s.wide)
	}
	if s.last = c; !isPrintable(c) {
		s.last = 0
	}
}

// endRun adds the run as a line if it is long enough to be text rather than chance, and returns it emptied for reuse.
func (s *binaryStrings) endRun(run []byte) []byte {
	if utf8.RuneCount(run) >= shortestString {
		s.lines = append(append(s.lines, run...), '\n')
	}
	return run[:0]
}

// isPrintable reports whether c can be part of a run of text. Bytes beyond ASCII can: they may be letters in UTF-8.
func isPrintable(c byte) bool { return c >= ' ' && c != 0x7f || c == '\t' }
