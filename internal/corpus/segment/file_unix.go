//go:build unix

package segment

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// newMapping maps the file into memory, read-only. It is unmapped when the mapping is garbage collected, so that no
// reader can meet memory that is gone.
func newMapping(f *os.File, size int64) (*mapping, error) {
	data, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	// Look-ups are random: reading ahead would fetch pages that are never used. Advice only, so a refusal does no harm.
	_ = unix.Madvise(data, unix.MADV_RANDOM)
	m := &mapping{data: data}
	runtime.AddCleanup(m, func(b []byte) { _ = unix.Munmap(b) }, data)
	return m, nil
}
