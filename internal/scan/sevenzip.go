package scan

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"

	"github.com/stangelandcl/ppmd"
	"github.com/ulikunitz/xz/lzma"

	"github.com/vigiahq/vigia/internal/zstd"
)

// sevenZip reads on inside a 7z, its folders one after the other, each once: files that share one are cut from the same
// stream.
func (w *walker) sevenZip(name string, at io.ReaderAt, size int64, depth int) error {
	h, err := sevenZipTable(at, size, w.limits)
	if err != nil {
		return w.damaged(name, nil, err)
	}
	release, ok := w.reserve(name, h.memory)
	if !ok {
		return nil
	}
	defer release()
	for range h.files {
		if err := w.file(name); err != nil {
			return err
		}
	}
	for i := range h.folders {
		if err := w.sevenZipFolder(name, at, size, h, &h.folders[i], depth); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) sevenZipFolder(name string, at io.ReaderAt, size int64, h *sevenZipHeader, f *sevenZipFolder, depth int) error {
	r, exact, err := h.open(at, f)
	if err != nil {
		for _, s := range f.streams {
			w.skip(inside(name, s.file.name), err.Error(), 0)
		}
		return nil
	}
	for _, s := range f.streams {
		entry := inside(name, s.file.name)
		content := &summed{r: io.LimitReader(r, s.size), left: s.size, stream: s, exact: exact, hash: crc32.NewIEEE()}
		m := &meter{w: w, name: entry, r: content, in: func() int64 { return size }}
		if s.file.plain {
			if err := w.open(entry, m, nil, 0, depth+1); err != nil {
				return err
			}
		}
		if _, err := io.Copy(io.Discard, m); err != nil && (errors.Is(err, ErrBomb) || w.ctx.Err() != nil) { // the next file begins where this one ends
			return err
		}
	}
	return nil
}

// summed reads the content of one file, to its end, and holds it against its check sum.
type summed struct {
	r      io.Reader
	left   int64
	stream sevenZipStream
	exact  bool
	hash   hash.Hash32
}

func (s *summed) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.left -= int64(n)
	if s.exact && s.stream.summed {
		_, _ = s.hash.Write(p[:n]) // a hash takes everything
	}
	if errors.Is(err, io.EOF) && s.exact {
		switch {
		case s.left > 0:
			err = io.ErrUnexpectedEOF
		case s.stream.summed && s.hash.Sum32() != s.stream.sum:
			err = errors.New("7z: the check sum does not match")
		}
	}
	return n, err
}

// open returns the content of a folder. It is not exact where a filter for machine code was left in: texts are the same
// without it, and nothing but texts is looked for.
func (h *sevenZipHeader) open(at io.ReaderAt, f *sevenZipFolder) (r io.Reader, exact bool, err error) {
	o := &folderOpener{at: at, header: h, folder: f, exact: true}
	r, err = o.output(f.output(), 0)
	return r, o.exact, err
}

type folderOpener struct {
	at     io.ReaderAt
	header *sevenZipHeader
	folder *sevenZipFolder
	exact  bool
}

// output opens what a coder writes.
func (o *folderOpener) output(out, depth int) (io.Reader, error) {
	if depth > len(o.folder.coders) {
		return nil, errSevenZip // a circle
	}
	firstIn, firstOut := 0, 0
	for _, c := range o.folder.coders {
		if out < firstOut+c.outs {
			// Of coders with several inputs only the filter of jumps is known, whose first is the text.
			in, err := o.input(firstIn, depth)
			if err != nil {
				return nil, err
			}
			return o.decoder(c, in, o.folder.sizes[out])
		}
		firstIn, firstOut = firstIn+c.ins, firstOut+c.outs
	}
	return nil, errSevenZip
}

// input opens what a coder reads: what another one writes, or a packed stream.
func (o *folderOpener) input(in, depth int) (io.Reader, error) {
	if out, bound := o.folder.bound[in]; bound {
		return o.output(out, depth+1)
	}
	for i, is := range o.folder.inputs {
		if is != in {
			continue
		}
		which := o.folder.first + i
		if which >= len(o.header.packed) {
			return nil, errSevenZip
		}
		from := 32 + o.header.packedAt
		for _, n := range o.header.packed[:which] {
			from += n
		}
		return bufio.NewReaderSize(io.NewSectionReader(o.at, from, o.header.packed[which]), 64<<10), nil
	}
	return nil, errSevenZip
}

func (o *folderOpener) decoder(c sevenZipCoder, in io.Reader, size int64) (io.Reader, error) {
	p := c.properties
	switch fmt.Sprintf("%x", c.id) {
	case "00":
		return in, nil
	case "030101":
		if len(p) != 5 {
			return nil, errSevenZip
		}
		head := binary.LittleEndian.AppendUint64(append([]byte{}, p...), uint64(size))
		return lzma.NewReader(io.MultiReader(bytes.NewReader(head), in))
	case "21":
		if len(p) != 1 {
			return nil, errSevenZip
		}
		return lzma.Reader2Config{DictCap: int(max(lzma.MinDictCap, min(lzma2Window(p[0]), lzma.MaxDictCap)))}.NewReader2(in)
	case "030401":
		if len(p) != 5 {
			return nil, errSevenZip
		}
		return newPPMd(in, int(p[0]), int(binary.LittleEndian.Uint32(p[1:])), int(size))
	case "040108":
		return flate.NewReader(in), nil
	case "040202":
		return bzip2.NewReader(in), nil
	case "04f71101":
		return zstd.NewReader(in, uint64(o.header.limits.Memory)/2), nil
	case "03":
		if len(p) != 1 {
			return nil, errSevenZip
		}
		return &delta{r: in, distance: int(p[0]) + 1}, nil
	case "03030103", "0303011b", "03030205", "03030401", "03030501", "03030701", "03030805", "04", "05", "06", "07", "08", "09", "0a", "0b":
		o.exact = false
		return in, nil
	case "06f10701":
		return nil, errors.New("encrypted")
	}
	return nil, fmt.Errorf("7z: packed in a way that is not read: %x", c.id)
}

// delta adds to each byte the one that stood distance before it.
type delta struct {
	r        io.Reader
	distance int
	last     [256]byte
	at       int
}

func (d *delta) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	for i := range p[:n] {
		p[i] += d.last[d.at]
		d.last[d.at] = p[i]
		d.at = (d.at + 1) % d.distance
	}
	return n, err
}

// ppmdReader turns a panic of the library, which damaged bytes can bring about, into an error.
type ppmdReader struct{ r *ppmd.Reader }

func newPPMd(in io.Reader, order, memory, size int) (r io.Reader, err error) {
	defer func() {
		if recover() != nil {
			err = errSevenZip
		}
	}()
	const leastOrder, mostOrder, leastMemory = 2, 64, 1 << 11
	if order < leastOrder || order > mostOrder || memory < leastMemory {
		return nil, errSevenZip
	}
	p, err := ppmd.NewH7zReader(in, order, memory, size)
	return ppmdReader{&p}, err
}

func (p ppmdReader) Read(b []byte) (n int, err error) {
	defer func() {
		if recover() != nil {
			n, err = 0, errSevenZip
		}
	}()
	return p.r.Read(b)
}
