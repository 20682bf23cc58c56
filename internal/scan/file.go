package scan

import (
	"errors"
	"os"
	"runtime/debug"
)

// ErrChanged is what a scan returns when the file it reads is cut short under it.
var ErrChanged = errors.New("the file changed while it was read")

// mapView is a variable for the test of what happens where files cannot be mapped.
var mapView = mapFile

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
