package container

import (
	"bytes"
	"compress/bzip2"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"

	"github.com/vigiahq/vigia/internal/lzma"
	"github.com/vigiahq/vigia/internal/zstd"
)

// usualWindow is what decoders hold that do not tell, with much to spare.
const usualWindow = 1 << 20

func starts(marks ...string) func(head []byte) bool {
	return func(head []byte) bool {
		for _, m := range marks {
			if len(head) >= len(m) && string(head[:len(m)]) == m {
				return true
			}
		}
		return false
	}
}

var gzipFormat = stream("gzip", starts("\x1f\x8b\x08"), usualWindow, func(in io.Reader, _ func(int64) error) (io.Reader, error) {
	return gzip.NewReader(in)
})

// bzip2Format is told by the mark of its first block, or of its end where there is none.
var bzip2Format = stream("bzip2", func(b []byte) bool {
	return len(b) > 10 && bytes.HasPrefix(b, []byte("BZh")) && b[3] >= '1' && b[3] <= '9' &&
		(bytes.Equal(b[4:10], []byte{0x31, 0x41, 0x59, 0x26, 0x53, 0x59}) || bytes.Equal(b[4:10], []byte{0x17, 0x72, 0x45, 0x38, 0x50, 0x90}))
}, 8<<20, func(in io.Reader, _ func(int64) error) (io.Reader, error) { return bzip2.NewReader(in), nil })

var zstdFormat = &format{name: "zstd", known: func(b []byte) bool {
	return bytes.HasPrefix(b, []byte{0x28, 0xb5, 0x2f, 0xfd}) || len(b) > 8 && b[0]>>4 == 5 && bytes.Equal(b[1:4], []byte{0x2a, 0x4d, 0x18})
}, open: func(w *walker, l layer) error {
	window := int64(8 << 20)
	if size, ok := zstd.Window(l.head); ok && size < 1<<40 {
		window = max(int64(zstd.Memory(size)), window)
	}
	release, ok := w.reserve(l.name, window)
	if !ok {
		return nil
	}
	defer release()
	in := &countingReader{r: l.r}
	out := zstd.NewReader(in, uint64(window))
	return w.open(layer{name: l.name + "!", depth: l.depth + 1}, &meter{w: w, name: l.name, r: out, in: func() int64 { return in.n }})
}}

var xzFormat = stream("xz", starts("\xfd7zXZ\x00"), usualWindow, func(in io.Reader, grow func(int64) error) (io.Reader, error) {
	return lzma.NewXZ(in, grow), nil
})

var lzipFormat = stream("lzip", starts("LZIP\x01"), usualWindow, func(in io.Reader, grow func(int64) error) (io.Reader, error) {
	return lzma.NewLzip(in, grow), nil
})

// lzmaFormat has no mark: it is told by the usual properties, a size that can be, and the zero with which every stream
// begins.
var lzmaFormat = stream("lzma", func(b []byte) bool {
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
}, usualWindow, func(in io.Reader, grow func(int64) error) (io.Reader, error) { return lzma.NewAlone(in, grow) })

// zlibFormat has two bytes that are a multiple of 31, which a text may have too: what follows must unpack.
var zlibFormat = stream("zlib", func(b []byte) bool {
	if len(b) < 8 || b[0] != 0x78 || (int(b[0])<<8|int(b[1]))%31 != 0 || b[1]&0x20 != 0 {
		return false
	}
	r := flate.NewReader(bytes.NewReader(b[2:]))
	var text [64]byte
	n, err := io.ReadFull(r, text[:])
	return n > 0 && (err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF))
}, usualWindow, func(in io.Reader, _ func(int64) error) (io.Reader, error) { return zlib.NewReader(in) })
