package container

import (
	"compress/bzip2"
	"encoding/binary"
	"errors"
	"hash"
	"io"

	"github.com/klauspost/compress/flate"
)

// unpackEntry undoes the packing of a file.
func (e *zipEntry) unpackEntry(in io.Reader) (io.Reader, error) {
	switch e.method {
	case 0:
		return in, nil
	case 8:
		return flate.NewReader(in), nil
	case 9:
		return newDeflate64(in), nil
	case 12:
		return bzip2.NewReader(in), nil
	case 14:
		return e.newEntryLZMA(in)
	case 20, 93:
		return newZstdReader(in)
	case 95:
		return newXZReader(in)
	}
	return nil, zipMethod(e.method)
}

// newEntryLZMA reads the version and size of the properties that stand before the stream.
func (e *zipEntry) newEntryLZMA(in io.Reader) (io.Reader, error) {
	var head [9]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return nil, errors.Join(io.ErrUnexpectedEOF, err)
	}
	if binary.LittleEndian.Uint16(head[2:]) != 5 {
		return nil, errDamaged
	}
	size := e.size
	if e.flags&zipHasMark != 0 || !e.sized {
		size = -1
	}
	return newLZMAReader(in, head[4:], size)
}

// summed reads the content of one file, to its end, and holds it against its size and check sum.
type summed struct {
	r      io.Reader
	left   int64
	sum    uint32
	summed bool // there is a sum
	hash   hash.Hash32
}

var errSum = errors.New("damaged: the check sum does not match")

func (s *summed) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.left -= int64(n)
	if s.summed {
		_, _ = s.hash.Write(p[:n]) // a hash takes everything
	}
	if errors.Is(err, io.EOF) {
		switch {
		case s.left > 0:
			err = io.ErrUnexpectedEOF
		case s.summed && s.hash.Sum32() != s.sum:
			err = errSum
		}
	}
	return n, err
}
