package container

import (
	"bytes"
	"errors"
	"io"

	"github.com/vigiahq/vigia/internal/dump/scan"
)

// errTooLarge means that something would have to be held in memory that is too large for it.
var errTooLarge = errors.New("too large to be held in memory")

// heldMost is how much of a layer that can only be read on is held in memory, to be read in place. A variable, for
// tests.
var heldMost int64 = 96 << 20

// chunk is how much of a layer is held in one piece, so that holding more never copies.
const chunk = 1 << 20

// holdInMemory reads what it may of r into memory. It returns io.EOF if that is all of it, no error if there is more,
// and else the error that broke it off.
func holdInMemory(r io.Reader) (held *io.SectionReader, err error) {
	var parts []Volume
	for size := int64(0); err == nil && size < heldMost; {
		part := make([]byte, chunk)
		var n int
		n, err = scan.FillBuffer(r, part)
		parts, size = append(parts, Volume{At: bytes.NewReader(part), Size: int64(n)}), size+int64(n)
	}
	return NewSet(parts).SectionReader, err
}

// holdLayer holds a layer that can only be read on, so that it can be read in place. It reports false if the layer is
// too large for that, which is noted. Of a stream that breaks off, what was there is held, and that it broke is noted.
func (w *walker) holdLayer(l *layer) (ok bool, err error) {
	if l.at != nil {
		return true, nil
	}
	held, err := holdInMemory(l.r)
	switch {
	case err == nil:
		w.noteSkip(l.name, errTooLarge.Error(), 0)
		return false, nil
	case !errors.Is(err, io.EOF):
		if err := w.noteDamage(l.name, held.Size(), err); err != nil {
			return false, err
		}
	}
	l.at, l.size = held, held.Size()
	return true, nil
}

// holdWhole places a layer that is small enough to be held; else it returns all of it as a stream.
func (l *layer) holdWhole() (rest io.Reader) {
	if l.at != nil {
		return nil
	}
	held, err := holdInMemory(l.r)
	switch {
	case err == nil:
		return io.MultiReader(held, l.r)
	case !errors.Is(err, io.EOF):
		return io.MultiReader(held, failed{err})
	}
	l.at, l.size = held, held.Size()
	return nil
}

// readExactly reads exactly len(p) bytes at a place of a file; a file that ends before is cut short.
func readExactly(at io.ReaderAt, p []byte, offset int64) error {
	if offset < 0 {
		return errDamaged
	}
	n, err := at.ReadAt(p, offset)
	if n == len(p) {
		return nil
	}
	return cutShort(err)
}
