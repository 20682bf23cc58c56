package container

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
)

// tryLibrary calls a library, and returns an error where a damaged file makes it panic.
func tryLibrary[T any](call func() (T, error)) (v T, err error) {
	defer notPanicking(&err)
	return call()
}

// notPanicking turns what a damaged file can do to a library into an error.
func notPanicking(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("damaged: %v", p)
	}
}

// guarded is a library's reader that damaged bytes may bring to panic.
type guarded struct{ r io.Reader }

func (g guarded) Read(p []byte) (n int, err error) {
	defer notPanicking(&err)
	n, err = g.r.Read(p)
	return n, rarPlainly(err)
}

// writeAll turns what a damaged file can do to a reader of it into an error.
func writeAll(to io.Writer, write func(out *text) error) (err error) {
	out := &text{w: bufio.NewWriterSize(to, 64<<10)}
	defer notPanicking(&err)
	err = write(out)
	return cmp.Or(err, out.w.Flush())
}
