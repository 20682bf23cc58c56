package container

import (
	"errors"
	"io"

	"github.com/vigiahq/vigia/internal/dump/scan"
)

// entryReader remembers how far an entry was read, and the error that ended it.
type entryReader struct {
	scan.CountingReader
	err error
}

func (c *entryReader) Read(p []byte) (int, error) {
	n, err := c.CountingReader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

// meter stops a layer that swells: it sits on what comes out, and knows what went in.
type meter struct {
	w    *walker
	name string
	r    io.Reader
	in   func() int64 // nil where the layer's own input is not known, as in an archive read in place
	out  int64
}

func (m *meter) Read(p []byte) (int, error) {
	if err := m.w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := m.r.Read(p)
	m.out += int64(n)
	m.w.unpacked += int64(n)
	l := &m.w.limits
	switch {
	case m.w.unpacked > l.Bytes:
		return n, ErrBomb.Note("%s: more than %d bytes unpacked", m.name, l.Bytes)
	case m.out > slack && m.in != nil && m.out > l.Ratio*m.in(),
		m.w.unpacked > slack && m.w.unpacked > l.Ratio*int64(l.Depth)*m.w.sourceBytes(),
		m.out > slack && m.out > l.Ratio*m.w.sourceBytes():
		return n, ErrBomb.Note("%s: unpacks to more than %d times its size", m.name, l.Ratio)
	}
	return n, err
}
