package scan

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/ulikunitz/xz"

	"github.com/vigiahq/vigia/internal/zstd"
)

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
		return n, ErrBomb.With("%s: more than %d bytes unpacked", m.name, l.Bytes)
	case m.out > slack && m.in != nil && m.out > l.Ratio*m.in(),
		m.w.unpacked > slack && m.w.unpacked > l.Ratio*int64(l.Depth)*m.w.source.bytes(),
		m.out > slack && m.out > l.Ratio*m.w.source.bytes():
		return n, ErrBomb.With("%s: unpacks to more than %d times its size", m.name, l.Ratio)
	}
	return n, err
}

// decompress reads on inside a compressed stream.
func (w *walker) decompress(name string, f format, r *bufio.Reader, depth int) error {
	start, _ := r.Peek(sniffed) // as open saw it
	window := streamWindow(f, start)
	release, ok := w.reserve(name, window)
	if !ok {
		return nil
	}
	defer release()
	in := &countingReader{r: r}
	var (
		out io.Reader
		err error
	)
	switch f {
	case gzipStream:
		out, err = gzip.NewReader(in)
	case bzip2Stream:
		out = bzip2.NewReader(in)
	case xzStream:
		out, err = xz.NewReader(in)
	case zstdStream:
		out = zstd.NewReader(in, uint64(window))
	default:
		err = fmt.Errorf("format %d is no stream", f)
	}
	if err != nil {
		return w.damaged(name, in, err)
	}
	return w.open(name+"!", &meter{w: w, name: name, r: out, in: func() int64 { return in.n }}, nil, 0, depth+1)
}

// streamWindow is the memory that the decoder of a stream will hold, from the stream's first bytes.
func streamWindow(f format, start []byte) int64 {
	const usual = 8 << 20
	switch f {
	case xzStream:
		if window, ok := xzWindow(start); ok {
			return max(window, usual)
		}
	case zstdStream:
		if size, ok := zstd.Window(start); ok && size < 1<<40 {
			return max(int64(zstd.Memory(size)), usual)
		}
	default: // the others hold a few hundred kilobytes
	}
	return usual
}

// xzWindow finds the dictionary size in the first block header: its last filter is LZMA2 (0x21) with one byte of
// properties.
func xzWindow(head []byte) (int64, bool) {
	if len(head) < 14 || head[12] == 0 {
		return 0, false
	}
	block := head[12:min(len(head), 12+(int(head[12])+1)*4)]
	at := 2
	for _, present := range []bool{block[1]&0x40 != 0, block[1]&0x80 != 0} {
		for present && at < len(block) {
			present = block[at]&0x80 != 0
			at++
		}
	}
	for ; at+2 < len(block); at += 2 + int(block[at+1]) {
		if block[at] == 0x21 && block[at+1] == 1 {
			return lzma2Window(block[at+2]), true
		}
	}
	return 0, false
}

// lzma2Window is the dictionary size that one byte stands for.
func lzma2Window(code byte) int64 {
	if code > 40 {
		return 1 << 62
	}
	return int64(2|code&1) << (code/2 + 11)
}

// file counts an entry of an archive.
func (w *walker) file(name string) error {
	w.files++
	if w.files > w.limits.Entries {
		return ErrBomb.With("%s: more than %d files", name, w.limits.Entries)
	}
	return w.ctx.Err()
}

// tar reads on inside a tar file. Only plain files have contents; links are not followed.
func (w *walker) tar(name string, r io.Reader, depth int) error {
	in := &countingReader{r: r}
	for t := tar.NewReader(in); ; {
		header, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return w.damaged(name, in, err)
		}
		if err := w.file(name); err != nil {
			return err
		}
		if header.Typeflag != tar.TypeReg && header.Typeflag != tar.TypeGNUSparse {
			continue
		}
		entry := inside(name, header.Name)
		if err := w.open(entry, &meter{w: w, name: entry, r: t, in: func() int64 { return in.n }}, nil, 0, depth+1); err != nil {
			return err
		}
	}
}

// inPlace reads an archive that has its table of contents at the end. One that can only be read on is held in memory
// first.
func (w *walker) inPlace(name string, f format, r io.Reader, at io.ReaderAt, size int64, depth int) error {
	if at == nil {
		var release func()
		var err error
		at, size, release, err = w.hold(name, r)
		if err != nil || at == nil {
			return err
		}
		defer release()
	}
	if f == zipFile {
		return w.zip(name, at, size, depth)
	}
	return w.sevenZip(name, at, size, depth)
}

// zipEntryCost is how many bytes the zip library holds for each byte of a table of contents, at most.
const zipEntryCost = 8

// hold reads r into memory. It returns no reader if r was too large, which is noted.
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
		if errors.Is(err, io.EOF) {
			return io.NewSectionReader(held, 0, size), size, release, nil
		}
		if err != nil {
			release()
			return nil, 0, nil, w.damaged(name, r, err)
		}
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

func (w *walker) zip(name string, at io.ReaderAt, size int64, depth int) error {
	if dir, err := zipDirectory(at, size); err != nil || dir > w.limits.Directory {
		if err == nil {
			err = fmt.Errorf("a table of contents of %d bytes is too large", dir)
		}
		return w.damaged(name, nil, err)
	} else if release, ok := w.reserve(name, zipEntryCost*dir); ok {
		defer release()
	} else {
		return nil
	}
	z, err := zip.NewReader(at, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return w.damaged(name, nil, err)
	}
	for _, f := range z.File {
		if err := w.file(name); err != nil {
			return err
		}
		entry := inside(name, f.Name)
		if f.FileInfo().IsDir() || !f.Mode().IsRegular() {
			continue
		}
		if f.Flags&1 != 0 {
			w.skip(entry, "encrypted", 0)
			continue
		}
		r, err := f.Open()
		if err != nil {
			w.skip(entry, err.Error(), 0)
			continue
		}
		packed := int64(min(f.CompressedSize64, uint64(size)))
		err = w.open(entry, &meter{w: w, name: entry, r: r, in: func() int64 { return packed }}, nil, 0, depth+1)
		_ = r.Close() // checksums are judged while reading
		if err != nil {
			return err
		}
	}
	return nil
}
