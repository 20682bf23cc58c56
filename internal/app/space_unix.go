//go:build unix

package app

import "golang.org/x/sys/unix"

// FreeSpace returns how many bytes a user without special rights can still write below path.
func FreeSpace(path string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, err
	}
	return uint64(s.Bavail) * uint64(s.Bsize), nil //nolint:unconvert // their types differ from system to system
}
