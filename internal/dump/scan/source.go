package scan

import (
	"io"
	"sync/atomic"
)

// FillBuffer reads until p is full or r ends. Unlike io.ReadFull it keeps the end of r apart from a stream that was cut
// off, for which decoders return io.ErrUnexpectedEOF.
func FillBuffer(r io.Reader, p []byte) (n int, err error) {
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

// CountingReader counts the bytes that were read from Source.
type CountingReader struct {
	Source io.Reader
	Count  int64
}

func (c *CountingReader) Read(p []byte) (int, error) {
	n, err := c.Source.Read(p)
	c.Count += int64(n)
	return n, err
}

// MeteredReader adds the bytes that are read to a count that other goroutines may look at, for progress.
type MeteredReader struct {
	io.Reader
	Count *atomic.Int64
}

func (m MeteredReader) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	m.Count.Add(int64(n))
	return n, err
}
