package container

import (
	"bufio"
	"compress/bzip2"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/stangelandcl/ppmd"

	"github.com/vigiahq/vigia/internal/lzma"
	"github.com/vigiahq/vigia/internal/zstd"
)

var sevenZipFormat = inPlace("7z", starts("7z\xbc\xaf\x27\x1c"), (*walker).sevenZip)

// sevenZip reads on inside a 7z, its folders one after the other, each once: files that share one are cut from the same
// stream.
func (w *walker) sevenZip(l layer) error {
	h, err := sevenZipTable(w, l.at, l.size)
	if err != nil {
		return w.damaged(l.name, 0, err)
	}
	release, ok := w.reserve(l.name, h.memory)
	if !ok {
		return nil
	}
	defer release()
	for range h.files {
		if err := w.file(l.name); err != nil {
			return err
		}
	}
	for i := range h.folders {
		if err := w.sevenZipFolder(l, h, &h.folders[i]); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) sevenZipFolder(l layer, h *sevenZipHeader, f *sevenZipFolder) error {
	grow, release := w.growing()
	defer release()
	r, exact, err := h.open(w, l.at, f, grow)
	if err != nil {
		for _, s := range f.streams {
			w.skip(inside(l.name, s.file.name), plainly(err), 0)
		}
		return w.ctx.Err()
	}
	for _, s := range f.streams {
		entry := inside(l.name, s.file.name)
		content := &summed{r: io.LimitReader(r, s.size), left: s.size, sum: s.sum, summed: s.summed, exact: exact, hash: crc32.NewIEEE()}
		m := &meter{w: w, name: entry, r: content, in: func() int64 { return l.size }}
		if s.file.plain {
			if err := w.open(layer{name: entry, depth: l.depth + 1}, m); err != nil {
				return err
			}
		}
		if _, err := io.Copy(io.Discard, m); err != nil && (errors.Is(err, ErrBomb) || w.ctx.Err() != nil) { // the next file begins where this one ends
			return err
		}
	}
	return nil
}

// open returns the content of a folder. It is not exact where a filter for machine code was left in: texts are the same
// without it, and nothing but texts is looked for.
func (h *sevenZipHeader) open(w *walker, at io.ReaderAt, f *sevenZipFolder, grow func(int64) error) (r io.Reader, exact bool, err error) {
	o := &folderOpener{at: at, header: h, folder: f, exact: true, grow: grow}
	if f.encrypted() {
		if o.keys, err = w.sevenZipUnlock(o); err != nil {
			return nil, false, err
		}
	}
	r, err = o.output(f.output(), 0)
	return r, o.exact, err
}

type folderOpener struct {
	at     io.ReaderAt
	header *sevenZipHeader
	folder *sevenZipFolder
	exact  bool
	grow   func(int64) error
	keys   sevenZipKeys // of what is encrypted
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
		return lzma.NewRaw(in, p, size, o.grow)
	case "21":
		if len(p) != 1 {
			return nil, errSevenZip
		}
		return lzma.NewRaw2(in, p[0], o.grow)
	case "030401":
		if len(p) != 5 {
			return nil, errSevenZip
		}
		if err := o.grow(int64(binary.LittleEndian.Uint32(p[1:]))); err != nil {
			return nil, err
		}
		return newPPMd(in, int(p[0]), int(binary.LittleEndian.Uint32(p[1:])), int(size))
	case "040108":
		return flate.NewReader(in), nil
	case "040109":
		return newDeflate64(in), nil
	case "040202":
		return bzip2.NewReader(in), nil
	case "04f71101":
		return zstd.NewReader(in, uint64(o.header.limits.Memory)/2), nil
	case "03":
		if len(p) != 1 {
			return nil, errSevenZip
		}
		return lzma.NewDelta(in, int(p[0])+1), nil
	case "03030103", "0303011b", "03030205", "03030401", "03030501", "03030701", "03030805", "04", "05", "06", "07", "08", "09", "0a", "0b":
		o.exact = false
		return in, nil
	case sevenZipAES:
		return o.decrypt(in, p, size)
	}
	return nil, fmt.Errorf("7z: packed in a way that is not read: %x", c.id)
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
