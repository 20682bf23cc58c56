package reader

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/vigiahq/vigia/internal/container"
)

// inPlace is what can be read at any offset.
type inPlace interface {
	io.ReadSeeker
	io.ReaderAt
}

// openSource returns the content of the input at hand.
func (c *reading) openSource() (io.Reader, error) {
	switch in := &c.in; {
	case in.Inline:
		return bytes.NewReader(<-c.contents), nil
	case in.File > len(c.files):
		return nil, errors.New("there is no such file")
	case in.File > 0:
		return c.files[in.File-1], nil
	case in.Size < 0:
		return &servedStream{servedWindow{c: c}}, nil
	case len(in.Volumes) == 0:
		w := &servedFile{servedWindow: servedWindow{c: c}}
		return io.NewSectionReader(w, 0, in.Size), nil
	}
	var volumes []container.Volume
	w, start := &servedFile{servedWindow: servedWindow{c: c}}, int64(0)
	for _, v := range c.in.Volumes {
		volumes = append(volumes, container.Volume{Name: v.Name, At: io.NewSectionReader(w, start, v.Size), Size: v.Size})
		start += v.Size
	}
	return container.NewSet(volumes), nil
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
				if s.err == nil {
					s.err = io.ErrUnexpectedEOF
				}
				return n, s.err
			}
		}
		n += copy(p[n:], s.held[at-s.from:])
	}
	return n, nil
}

// meteredFile counts the bytes that are read from a file, for progress.
type meteredFile struct {
	f inPlace
	n *atomic.Int64
}

func (m meteredFile) Read(p []byte) (int, error) {
	n, err := m.f.Read(p)
	m.n.Add(int64(n))
	return n, err
}

func (m meteredFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := m.f.ReadAt(p, off)
	m.n.Add(int64(n))
	return n, err
}

// Volumes returns the volumes of a set, as some archives number their blocks by volume; nil for a single file.
func (m meteredFile) Volumes() []container.Volume {
	if s, ok := m.f.(interface{ Volumes() []container.Volume }); ok {
		return s.Volumes()
	}
	return nil
}

func (m meteredFile) Seek(offset int64, whence int) (int64, error) { return m.f.Seek(offset, whence) }

// meterReads counts what is read.
func meterReads(r io.Reader, n *atomic.Int64) io.Reader {
	if f, ok := r.(inPlace); ok {
		return meteredFile{f, n}
	}
	return metered{r, n}
}
