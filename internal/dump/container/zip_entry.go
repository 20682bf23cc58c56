package container

import (
	"compress/bzip2"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/flate"
)

// zipEntry is what a zip says of a file in it.
type zipEntry struct {
	flags, method uint16
	extra         []byte
	sum           uint32
	packed, size  int64
	check         byte // the last byte before encrypted text, to tell a wrong password
	sized         bool // packed, size and sum are known
}

const (
	zipEncrypted     = 1
	zipHasMark       = 2 // of LZMA: a mark ends the text
	zipHasDescriptor = 8
)

// readWideSizes takes sizes beyond 32 bits from where they are kept.
func (e *zipEntry) readWideSizes() {
	body := e.extraField(1)
	for _, size := range []*int64{&e.size, &e.packed} {
		if *size == 1<<32-1 && len(body) >= 8 {
			*size = int64(binary.LittleEndian.Uint64(body) & (1<<62 - 1))
			body = body[8:]
		}
	}
}

// extraField returns what a zip says besides of a file under a number, or nil.
func (e *zipEntry) extraField(wanted uint16) []byte {
	for extra := e.extra; len(extra) >= 4; {
		id, n := binary.LittleEndian.Uint16(extra), int(binary.LittleEndian.Uint16(extra[2:]))
		if n > len(extra)-4 {
			break
		}
		if id == wanted {
			return extra[4:][:n]
		}
		extra = extra[4+n:]
	}
	return nil
}

// openZipEntry gives the text of a file. raw may be called again where passwords are tried.
func (w *walker) openZipEntry(e zipEntry, raw func() (io.Reader, error)) (io.Reader, error) {
	if e.flags&zipEncrypted != 0 {
		return w.zipDecrypt(e, raw)
	}
	in, err := raw()
	if err != nil {
		return nil, err
	}
	return e.unpackText(in)
}

// unpackText undoes the packing and holds the text against its check sum.
func (e *zipEntry) unpackText(in io.Reader) (io.Reader, error) {
	r, err := e.unpackEntry(in)
	if err != nil || !e.sized {
		return r, err
	}
	return &summed{r: r, left: e.size, sum: e.sum, summed: e.sum != 0 || e.size == 0, hash: crc32.NewIEEE()}, nil
}

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

// errZipMethod is the verdict on a member packed by a method that no reader here knows.
var errZipMethod = errors.New("packed in a way that is not read: zip")

// zipMethod returns an error that names the compression method, so that the operator knows which program can unpack the
// file.
func zipMethod(n uint16) error {
	names := map[uint16]string{1: "Shrink", 6: "Implode", 18: "TERSE", 19: "LZ77", 96: "JPEG", 97: "WavPack"}
	if name, ok := names[n]; ok {
		return fmt.Errorf("%w: %s", errZipMethod, name)
	}
	return fmt.Errorf("%w: method %d", errZipMethod, n)
}

// summed reads the content of one file, to its end, and holds it against its size and check sum.
type summed struct {
	r      io.Reader
	left   int64
	sum    uint32
	summed bool // there is a sum
	hash   hash.Hash32
}

// errSum is the verdict on a member whose bytes differ from those that were packed.
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
