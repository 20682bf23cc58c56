package scan

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime/debug"
)

// viewSize is how much of a file is mapped at once. It counts as memory of the process while it is.
const viewSize = 4 << 20

// ErrChanged is what a scan returns when the file it reads is cut short under it.
var ErrChanged = errors.New("the file changed while it was read")

// mapView is a variable for the test of what happens where files cannot be mapped.
var mapView = mapFile

// inPlace is an entry that is a plain file as a whole, which can be searched without copying it.
type inPlace interface {
	File() *os.File
	Took(n int64)
}

// scanInPlace searches a file through views of it that the system maps, which spares the copying that would take nearly
// half of the time in a dump with little to be found. It reports false, having done nothing, where that is not
// possible.
func (s *Scanner) scanInPlace(ctx context.Context, e inPlace) (n int64, ok bool, err error) {
	f := e.File()
	if f == nil {
		return 0, false, nil
	}
	stat, err := f.Stat()
	if err != nil || !stat.Mode().IsRegular() || stat.Size() == 0 {
		return 0, false, nil
	}
	start := make([]byte, sniffed)
	if k, err := f.ReadAt(start, 0); err != nil && !errors.Is(err, io.EOF) || encoded(start[:k]) {
		return 0, false, nil
	}
	for done := int64(0); n < stat.Size(); {
		if err := ctx.Err(); err != nil {
			return n, true, err
		}
		next := min(n+viewSize, stat.Size())
		done, err = s.view(f, n, next, stat.Size(), done)
		if errors.Is(err, errors.ErrUnsupported) && n == 0 {
			return 0, false, nil
		}
		if err != nil {
			return n, true, err
		}
		n = next
		e.Took(n)
	}
	return n, true, nil
}

// view searches the file from one offset to another. What begins before done has been read; it returns the same for the
// next view.
func (s *Scanner) view(f *os.File, from, to, size, done int64) (next int64, err error) {
	base := max(0, from-cellMargin) // a view is a number of whole cells
	err = mapped(f, base, min(to+cellMargin, size), func(b []byte) {
		w := window{b: b, from: int(from - base), done: int(max(0, done-base))}
		s.wanted = s.wanted[:0]
		s.extract(&w, int(to-base))
		s.decode(b, base, int(from-base), int(to-base))
		done = base + int64(w.done)
	})
	return done, err
}

// mapped calls fn with the bytes of f from one offset to another, as the system maps them. It returns
// errors.ErrUnsupported, without a call, where that is not possible.
func mapped(f *os.File, from, to int64, fn func(b []byte)) (err error) {
	before := from % int64(os.Getpagesize()) // a view begins with a page
	b, err := mapView(f, from-before, int(to-from+before))
	if err != nil {
		return errors.ErrUnsupported
	}
	defer unmapFile(b)
	// A file that shrinks leaves pages that cannot be read. That must end this scan, not the process.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			if !faultIn(p, b) {
				panic(p)
			}
			err = ErrChanged
		}
	}()
	fn(b[before:])
	return nil
}
