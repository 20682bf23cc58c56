package container

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"encoding/binary"
	"errors"
	"io"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"

	"github.com/vigiahq/vigia/internal/dump/scan"
)

var gzipFormat = streamFormat(
	"gzip",
	startsWith("\x1f\x8b\x08"),
	func(in io.Reader) (io.Reader, error) { return gzip.NewReader(in) },
)

// bzip2Format is told by the mark of its first block, or of its end where there is none.
var bzip2Format = streamFormat("bzip2", func(b []byte) bool {
	return len(b) > 10 && bytes.HasPrefix(b, []byte("BZh")) && b[3] >= '1' && b[3] <= '9' &&
		(bytes.Equal(b[4:10], []byte{0x31, 0x41, 0x59, 0x26, 0x53, 0x59}) ||
			bytes.Equal(b[4:10], []byte{0x17, 0x72, 0x45, 0x38, 0x50, 0x90}))
}, func(in io.Reader) (io.Reader, error) { return bzip2.NewReader(in), nil })

var zstdFormat = streamFormat("zstd", func(b []byte) bool {
	return bytes.HasPrefix(b, []byte{0x28, 0xb5, 0x2f, 0xfd}) ||
		len(b) > 8 && b[0]>>4 == 5 && bytes.Equal(b[1:4], []byte{0x2a, 0x4d, 0x18})
}, newZstdReader)

// newZstdReader takes windows of up to 128 MiB, which zstd --long writes. With one decoder there is nothing to be
// closed.
func newZstdReader(in io.Reader) (io.Reader, error) {
	return zstd.NewReader(
		in,
		zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(128<<20),
	)
}

var lz4Format = streamFormat(
	"LZ4",
	startsWith("\x04\x22\x4d\x18", "\x02\x21\x4c\x18"),
	func(in io.Reader) (io.Reader, error) {
		return lz4.NewReader(in), nil
	},
)

var xzFormat = streamFormat("xz", startsWith("\xfd7zXZ\x00"), newXZReader)

func newXZReader(in io.Reader) (io.Reader, error) {
	return xz.NewReader(bufio.NewReaderSize(in, 64<<10))
}

var lzipFormat = streamFormat("lzip", startsWith("LZIP\x01"), func(in io.Reader) (io.Reader, error) {
	return &lzipReader{in: bufio.NewReaderSize(in, 64<<10)}, nil
})

// lzipReader reads the members of a lzip file: a head of six bytes, LZMA up to its mark, and a tail of twenty.
type lzipReader struct {
	in     *bufio.Reader
	member io.Reader
}

func (l *lzipReader) Read(p []byte) (int, error) {
	for {
		if l.member == nil {
			var head [6]byte
			if n, err := scan.FillBuffer(l.in, head[:]); n == 0 {
				return 0, err
			}
			if string(head[:5]) != "LZIP\x01" || head[5]&31 < 12 || head[5]&31 > 29 {
				return 0, errDamaged
			}
			window := uint32(1) << (head[5] & 31)
			window -= window / 16 * uint32(head[5]>>5)
			var err error
			properties := binary.LittleEndian.AppendUint32([]byte{0x5d}, window)
			if l.member, err = newLZMAReader(l.in, properties, -1); err != nil {
				return 0, err
			}
		}
		n, err := l.member.Read(p)
		if !errors.Is(err, io.EOF) {
			return n, err
		}
		l.member = nil
		if _, err := l.in.Discard(20); err != nil {
			return n, io.ErrUnexpectedEOF
		}
		if n > 0 {
			return n, nil
		}
	}
}

// newLZMAReader reads a bare stream whose five bytes of properties and size, below zero where a mark ends it, are
// known.
func newLZMAReader(in io.Reader, properties []byte, size int64) (io.Reader, error) {
	head := binary.LittleEndian.AppendUint64(bytes.Clone(properties), uint64(size))
	if _, ok := in.(io.ByteReader); !ok {
		in = bufio.NewReader(in)
	}
	return lzma.NewReader(unbuffered{io.MultiReader(bytes.NewReader(head), in)})
}

// unbuffered reads byte by byte: the decoder then takes none beyond its end.
type unbuffered struct{ io.Reader }

func (u unbuffered) ReadByte() (byte, error) {
	var b [1]byte
	_, err := io.ReadFull(u, b[:])
	return b[0], err
}

// lzmaFormat has no mark: it is told by the usual properties, a size that can be, and the zero with which every stream
// begins.
var lzmaFormat = streamFormat("lzma", func(b []byte) bool {
	if len(b) < 18 || b[0] >= 9*5*5 || b[13] != 0 {
		return false
	}
	window := uint32(b[1]) | uint32(b[2])<<8 | uint32(b[3])<<16 | uint32(b[4])<<24
	high := window & (window - 1) // a power of two, or one and a half of it
	if window < 1<<12 || high != 0 && high != 2*(window&-window) {
		return false
	}
	unknown := bytes.Equal(b[5:13], []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	return unknown || b[10] == 0 && b[11] == 0 && b[12] == 0
}, func(in io.Reader) (io.Reader, error) { return lzma.NewReader(bufio.NewReaderSize(in, 64<<10)) })

// zlibFormat has two bytes that are a multiple of 31, which a text may have too: what follows must unpack.
var zlibFormat = streamFormat("zlib", func(b []byte) bool {
	if len(b) < 8 || b[0] != 0x78 || (int(b[0])<<8|int(b[1]))%31 != 0 || b[1]&0x20 != 0 {
		return false
	}
	r := flate.NewReader(bytes.NewReader(b[2:]))
	var text [64]byte
	n, err := io.ReadFull(r, text[:])
	return n > 0 && (err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF))
}, func(in io.Reader) (io.Reader, error) { return zlib.NewReader(in) })
