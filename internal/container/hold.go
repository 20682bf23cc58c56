package container

import (
	"errors"
	"io"
)

// hold reads r into memory. It returns no reader if r was too large, which is noted. Of a stream that breaks off, what
// was there is held, and that it broke is noted.
func (w *walker) hold(name string, r io.Reader) (at io.ReaderAt, size int64, release func(), err error) {
	var held chunks
	release = func() { w.held -= int64(len(held)) * chunk }
	for {
		if _, ok := w.reserve(name, chunk); !ok {
			release()
			return nil, 0, nil, nil
		}
		part := make([]byte, chunk)
		held = append(held, part)
		n, err := fill(r, part)
		size += int64(n)
		if err == nil {
			continue
		}
		if !errors.Is(err, io.EOF) {
			if err := w.damaged(name, size, err); err != nil {
				release()
				return nil, 0, nil, err
			}
		}
		return io.NewSectionReader(held, 0, size), size, release, nil
	}
}

const chunk = 1 << 20

// chunks is text held in pieces, so that holding more never copies.
type chunks [][]byte

func (c chunks) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		i := (off + int64(n)) / chunk
		if i >= int64(len(c)) {
			return n, io.EOF
		}
		n += copy(p[n:], c[i][(off+int64(n))%chunk:])
	}
	return n, nil
}

// fill reads until p is full or r ends. Unlike io.ReadFull it keeps the end of r apart from a stream that was cut off,
// for which decoders return io.ErrUnexpectedEOF.
func fill(r io.Reader, p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var m int
		m, err = r.Read(p[n:])
		n += m
	}
	if n == len(p) {
		err = nil
	}
	return n, err
}

// full reads exactly len(p) bytes at a place of a file; a file that ends before is cut short.
func full(at io.ReaderAt, p []byte, offset int64) error {
	if offset < 0 {
		return errDamaged
	}
	n, err := at.ReadAt(p, offset)
	if n == len(p) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

var errDamaged = errors.New("damaged")

// cutShort tells an end that came too early.
func cutShort(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
