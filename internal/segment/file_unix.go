//go:build unix

package segment

import (
	"errors"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

func newMapping(f *os.File, size int64) (*mapping, error) {
	data, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	// Look-ups are random: reading ahead would fetch pages that nobody asked for. Advice only, so a refusal does no harm.
	_ = unix.Madvise(data, unix.MADV_RANDOM)
	m := &mapping{data: data}
	runtime.AddCleanup(m, func(b []byte) { _ = unix.Munmap(b) }, data)
	return m, nil
}

// TryLock locks the file against other processes and says whether it could. The lock goes when the file is closed.
func TryLock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// openShared opens a file that may lose its name while it is open.
func openShared(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
}

// SyncFolder makes renames and removals in a folder durable.
func SyncFolder(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
