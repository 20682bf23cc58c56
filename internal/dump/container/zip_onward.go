package container

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"strings"
)

// errNoDirectory has the members read one behind another, as of a zip that was cut off.
var errNoDirectory = errors.New("no table of contents")

// zipOnward reads the files of a zip one after the other by the heads that stand before them. why, if there is any, is
// why the table of contents was not used.
func (w *walker) zipOnward(l layer, r io.Reader, why string) error {
	in := &byteCounter{Reader: bufio.NewReaderSize(r, 64<<10)}
	noted := w.report.Skipped
	for {
		mark, err := in.Peek(4)
		switch {
		case bytes.Equal(mark, []byte("PK\x03\x04")):
			if ok, err := w.readNextZipFile(l, in); err != nil {
				return err
			} else if ok {
				continue
			}
		case bytes.Equal(mark, []byte(zipSpanned)), bytes.Equal(mark, []byte("PK00")):
			_, _ = in.Discard(4) // was seen
			continue
		case bytes.Equal(mark, []byte("PK\x01\x02")),
			bytes.Equal(mark, []byte("PK\x05\x06")),
			bytes.Equal(mark, []byte("PK\x06\x06")):
			if why != "" && strings.HasPrefix(why, "damaged") {
				w.noteSkip(l.name, why, in.n)
			}
			return nil
		}
		if w.report.Skipped > noted { // told already
			return nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return w.noteDamage(l.name, in.n, err)
		}
		w.noteSkip(l.name, cmp.Or(why, "cut short"), in.n)
		return nil
	}
}

// readNextZipFile reads one file, and says whether it is known where the next one begins.
func (w *walker) readNextZipFile(l layer, in *byteCounter) (bool, error) {
	if err := w.countFile(l.name); err != nil {
		return false, err
	}
	var head [30]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return false, nil // noted by the caller as cut short
	}
	b := binary.LittleEndian
	e := zipEntry{
		flags:  b.Uint16(head[6:]),
		method: b.Uint16(head[8:]),
		sum:    b.Uint32(head[14:]),
		packed: int64(b.Uint32(head[18:])),
		size:   int64(b.Uint32(head[22:])),
		check:  head[17],
		sized:  true,
	}
	name := make([]byte, b.Uint16(head[26:]))
	e.extra = make([]byte, b.Uint16(head[28:]))
	for _, part := range [][]byte{name, e.extra} {
		if _, err := io.ReadFull(in, part); err != nil {
			return false, nil // noted by the caller as cut short
		}
	}
	e.readWideSizes()
	if e.flags&zipHasDescriptor != 0 {
		e.sized, e.check = e.packed > 0, head[11]
	}
	entry := entryName(l.name, string(name))
	if !e.sized && e.method != 8 {
		w.noteSkip(entry, "zip: how long it is stands in the table of contents, which is not there", 0)
		return false, nil
	}
	return true, w.zipStreamed(layer{name: entry, depth: l.depth + 1}, e, in, bytes.HasSuffix(name, []byte("/")))
}

// zipStreamed reads a file that stands at the beginning of in, and passes over it.
func (w *walker) zipStreamed(l layer, e zipEntry, in *byteCounter, folder bool) error {
	from := in.n
	var raw io.Reader = in
	if e.sized {
		raw = io.LimitReader(in, e.packed)
	}
	var err error
	if !folder {
		var r io.Reader
		// A stream cannot be tried again: the first password that passes the check is taken.
		if r, err = w.openZipOnce(e, raw); err != nil {
			err = w.noteDamage(l.name, 0, err)
		} else {
			m := &meter{w: w, name: l.name, r: r, in: func() int64 { return in.n - from }}
			if err = w.openLayer(l, m); err == nil && !e.sized {
				_, _ = io.Copy(io.Discard, m) // to its end, which nothing else tells
			}
		}
	}
	if err != nil {
		return err
	}
	if e.sized {
		_, _ = io.Copy(io.Discard, raw) // an error comes again at the next head
	}
	in.descriptor()
	return nil
}

// openZipOnce opens a file whose packed bytes can be read once.
func (w *walker) openZipOnce(e zipEntry, raw io.Reader) (io.Reader, error) {
	if e.flags&zipEncrypted == 0 {
		return e.unpackText(raw)
	}
	lock, err := newZipLock(&e)
	if err != nil {
		return nil, err
	}
	start := make([]byte, min(e.packed, 32))
	if _, err := io.ReadFull(raw, start); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	password, err := w.findPassword(func(password string) bool {
		_, err := lock.openLocked(bytes.NewReader(start), password)
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	in, err := lock.openLocked(io.MultiReader(bytes.NewReader(start), raw), password)
	if err != nil {
		return nil, err
	}
	return e.unpackText(in)
}

// byteCounter counts what was taken. Decoders that read byte by byte take no byte too many from it.
type byteCounter struct {
	*bufio.Reader
	n int64
}

func (b *byteCounter) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	b.n += int64(n)
	return n, err
}

func (b *byteCounter) ReadByte() (byte, error) {
	c, err := b.Reader.ReadByte()
	if err == nil {
		b.n++
	}
	return c, err
}

// descriptor passes over what may stand behind a file: its sum and sizes, with or without a mark, of one width or the
// other.
func (b *byteCounter) descriptor() {
	for _, n := range []int{0, 12, 16, 20, 24} {
		next, _ := b.Peek(n + 4)
		if len(next) < n+4 {
			return
		}
		switch string(next[n:]) {
		case "PK\x03\x04", "PK\x01\x02", "PK\x05\x06", "PK\x06\x06":
			k, _ := b.Discard(n) // was seen
			b.n += int64(k)
			return
		}
	}
}
