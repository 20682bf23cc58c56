package scan

import "golang.org/x/sys/unix"

// populate brings the pages in at once instead of by one fault each. A kernel that cannot does it by faults.
func populate(b []byte) { _ = unix.Madvise(b, unix.MADV_POPULATE_READ) }
