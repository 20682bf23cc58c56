package segment

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// largePages asks the kernel to back b, if it is long, with few large pages instead of many small ones: each small page
// costs a fault at its first write. b must not have been written to yet. Advice only, so a refusal does no harm.
func largePages(b []byte) {
	const worth = 2 << 20
	if len(b) < worth {
		return
	}
	size := os.Getpagesize()
	b = b[-uintptr(unsafe.Pointer(unsafe.SliceData(b)))%uintptr(size):] //nolint:gosec // where a page begins
	_ = unix.Madvise(b[:len(b)/size*size], unix.MADV_HUGEPAGE)
}
