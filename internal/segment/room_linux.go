package segment

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// largePages asks for few large pages instead of many small ones where b, which nobody has touched yet, is long: each small
// one is a fault when it is written to for the first time. Advice only, so a refusal does no harm.
func largePages(b []byte) {
	const worth = 2 << 20
	if len(b) < worth {
		return
	}
	size := os.Getpagesize()
	b = b[-uintptr(unsafe.Pointer(unsafe.SliceData(b)))%uintptr(size):] //nolint:gosec // where a page begins
	_ = unix.Madvise(b[:len(b)/size*size], unix.MADV_HUGEPAGE)
}
