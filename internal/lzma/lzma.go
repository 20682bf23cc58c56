// Package lzma reads what LZMA packed: the streams of 7z and zip, .lzma, lzip and xz.
//
// A stream claims a window of up to four gigabytes in one byte. Here the window grows with what really comes out, and
// every growth is asked for first: a claim costs nothing. What was unpacked before the input broke off is handed out
// before the error.
package lzma

import (
	"errors"
	"io"
)

// Memory is asked before a window grows by n bytes; its error ends the stream. A window is not given back: the caller
// knows when the reader is done with.
type Memory func(n int64) error

// ErrCorrupt means that the bytes are not what LZMA writes.
var ErrCorrupt = errors.New("lzma: damaged")

// Unknown is the size of a stream that ends by a mark.
const Unknown = -1

// NewRaw reads a stream without a header, as it lies in a 7z or zip: properties are its first five bytes elsewhere,
// size is how long the text is, or Unknown.
func NewRaw(r io.Reader, properties []byte, size int64, memory Memory) (io.Reader, error) {
	return newStream(&input{src: r}, properties, size, memory)
}

// NewAlone reads a .lzma file: properties, size, stream.
func NewAlone(r io.Reader, memory Memory) (io.Reader, error) {
	in := &input{src: r}
	var head [13]byte
	if err := in.full(head[:]); err != nil {
		return nil, err
	}
	var size uint64
	for i, c := range head[5:] {
		size |= uint64(c) << (8 * i)
	}
	return newStream(in, head[:5], int64(size), memory) // all ones are Unknown
}

// stream is one LZMA stream.
type stream struct {
	decoder
	started bool
	err     error
}

func newStream(in *input, properties []byte, size int64, memory Memory) (*stream, error) {
	if len(properties) < 5 || size < Unknown {
		return nil, ErrCorrupt
	}
	s := &stream{decoder: decoder{window: window{memory: memory}}}
	if err := s.setProperties(properties[0]); err != nil {
		return nil, err
	}
	dict := uint32(properties[1]) | uint32(properties[2])<<8 | uint32(properties[3])<<16 | uint32(properties[4])<<24
	s.window.most = int64(max(dict, leastWindow))
	s.coder.in, s.left = in, size
	s.resetState()
	return s, nil
}

func (s *stream) Read(p []byte) (int, error) {
	for len(p) > 0 {
		if n := s.window.take(p); n > 0 {
			return n, nil
		}
		if s.err != nil {
			return 0, s.err
		}
		s.err = s.more()
	}
	return 0, nil
}

// more unpacks the next bytes.
func (s *stream) more() error {
	if !s.started {
		s.started = true
		if err := s.coder.start(); err != nil {
			return err
		}
	}
	if s.left == 0 {
		return io.EOF
	}
	ended, err := s.decode()
	if err == nil && ended {
		err = io.EOF
		if s.left > 0 {
			err = ErrCorrupt
		}
	}
	return err
}

// input is the packed bytes, and hands out no more than was asked for: what follows a stream is somebody else's.
type input struct {
	src  io.Reader
	buf  [16 << 10]byte
	r, w int
	n    int64 // taken
	err  error
}

func (in *input) fill() error {
	for in.r == in.w {
		if in.err != nil {
			return in.err
		}
		in.r = 0
		in.w, in.err = in.src.Read(in.buf[:])
		if in.w < 0 || in.w > len(in.buf) {
			return ErrCorrupt
		}
	}
	return nil
}

// next takes a byte. The end of the input is where nothing should end.
func (in *input) next() (byte, error) {
	if in.r == in.w {
		if err := in.fill(); err != nil {
			return 0, cut(err)
		}
	}
	c := in.buf[in.r]
	in.r++
	in.n++
	return c, nil
}

// full fills p.
func (in *input) full(p []byte) error {
	_, err := in.some(p)
	return err
}

// some fills p as far as there is something, and says how far.
func (in *input) some(p []byte) (n int, err error) {
	for n < len(p) {
		if err := in.fill(); err != nil {
			return n, cut(err)
		}
		m := copy(p[n:], in.buf[in.r:in.w])
		in.r, in.n, n = in.r+m, in.n+int64(m), n+m
	}
	return n, nil
}

func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
