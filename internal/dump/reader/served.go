package reader

import (
	"cmp"
	"errors"
	"io"
	"sync"
)

// inPlace is what can be read at any offset.
type inPlace interface {
	io.ReadSeeker
	io.ReaderAt
}

// windowSize is how much is asked for at once: decoders read in small bites, and each question wakes two processes.
const windowSize = 256 << 10

// servedWindow holds what the parent served last.
type servedWindow struct {
	c    *reading
	mu   sync.Mutex
	held []byte
	from int64 // where held begins
	err  error // what came behind it
}

// requestBytes asks the parent for bytes from an offset on.
func (w *servedWindow) requestBytes(offset int64) {
	exitOnError(w.c.out.writeJSON(factWanted, wanted{Offset: offset, Length: windowSize}))
	answer := <-w.c.served
	w.held, w.from, w.err = nil, offset, nil
	switch state := servedState(answer[0]); state {
	case servedFailed:
		w.err = errors.New(string(answer[1:]))
	case servedLast:
		w.held, w.err = answer[1:], io.EOF
	case servedMore:
		w.held = answer[1:]
	}
}

// servedStream can only be read on.
type servedStream struct{ servedWindow }

func (s *servedStream) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.held) == 0 && s.err == nil {
		s.requestBytes(-1)
	}
	n := copy(p, s.held)
	s.held = s.held[n:]
	if len(s.held) == 0 && (n == 0 || len(p) == 0) {
		return n, s.err
	}
	return n, nil
}

// servedFile can be read at any offset.
type servedFile struct{ servedWindow }

// ReadAt reads from the bytes that were last received, and requests others from the parent process. At the end of what
// the parent served it returns the parent's error.
func (s *servedFile) ReadAt(p []byte, offset int64) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n < len(p) {
		at := offset + int64(n)
		if s.held == nil || at < s.from || at >= s.from+int64(len(s.held)) {
			if s.held != nil && at == s.from+int64(len(s.held)) && s.err != nil {
				return n, s.err
			}
			if s.requestBytes(at); len(s.held) == 0 {
				s.err = cmp.Or(s.err, io.ErrUnexpectedEOF)
				return n, s.err
			}
		}
		n += copy(p[n:], s.held[at-s.from:])
	}
	return n, nil
}
