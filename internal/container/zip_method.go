package container

import (
	"compress/bzip2"
	"compress/flate"
	"encoding/binary"
	"errors"
	"hash"
	"io"

	"github.com/vigiahq/vigia/internal/lzma"
	"github.com/vigiahq/vigia/internal/ppmd"
	"github.com/vigiahq/vigia/internal/zstd"
)

// unpack undoes the packing of a file.
func (e *zipEntry) unpack(in io.Reader, grow func(int64) error) (io.Reader, error) {
	switch e.method {
	case 0:
		return in, nil
	case 8:
		return flate.NewReader(in), nil
	case 9:
		return newDeflate64(in), nil
	case 12:
		if err := grow(4 << 20); err != nil {
			return nil, err
		}
		return bzip2.NewReader(in), nil
	case 14:
		return e.lzma(in, grow)
	case 20, 93:
		const window = 16 << 20
		if err := grow(window); err != nil {
			return nil, err
		}
		return zstd.NewReader(in, window), nil
	case 95:
		return lzma.NewXZ(in, grow), nil
	case 98:
		size := e.size
		if !e.sized {
			size = ppmd.Unknown
		}
		return ppmd.NewZip(in, size, grow)
	}
	return nil, zipMethod(e.method)
}

// lzma reads the version and size of the properties that stand before the stream.
func (e *zipEntry) lzma(in io.Reader, grow func(int64) error) (io.Reader, error) {
	var head [9]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return nil, errors.Join(io.ErrUnexpectedEOF, err)
	}
	if binary.LittleEndian.Uint16(head[2:]) != 5 {
		return nil, errDamaged
	}
	size := e.size
	if e.flags&zipHasMark != 0 || !e.sized {
		size = lzma.Unknown
	}
	return lzma.NewRaw(in, head[4:], size, grow)
}

// summed reads the content of one file, to its end, and holds it against its size and check sum.
type summed struct {
	r      io.Reader
	left   int64
	sum    uint32
	summed bool // there is a sum
	exact  bool // the text is what the sum was made of
	hash   hash.Hash32
}

var errSum = errors.New("damaged: the check sum does not match")

func (s *summed) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.left -= int64(n)
	if s.exact && s.summed {
		_, _ = s.hash.Write(p[:n]) // a hash takes everything
	}
	if errors.Is(err, io.EOF) && s.exact {
		switch {
		case s.left > 0:
			err = io.ErrUnexpectedEOF
		case s.summed && s.hash.Sum32() != s.sum:
			err = errSum
		}
	}
	return n, err
}
