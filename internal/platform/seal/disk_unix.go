//go:build unix

package seal

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// noFollow refuses a symbolic link where the key file should be.
const noFollow = syscall.O_NOFOLLOW

// errLink is what opening a symbolic link with noFollow gives.
var errLink error = syscall.ELOOP

// openPlain opens a file for reading. O_NONBLOCK: a named pipe must be refused, not waited for.
func openPlain(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|noFollow|syscall.O_NONBLOCK, 0)
}

// checkFile refuses a file that others could have read or written.
func checkFile(path string, info os.FileInfo, euid int) error {
	if !info.Mode().IsRegular() {
		return unsafeFile(path, "is not a regular file", "give the path of a key file")
	}
	if perm := info.Mode().Perm(); perm&0o077 != 0 {
		return unsafeFile(path, fmt.Sprintf("has mode %04o and is open to others", perm),
			fmt.Sprintf("run chmod 600 %+q, and consider whether somebody has read it", path))
	}
	if owner := FileOwner(info); owner != euid {
		return unsafeFile(path, fmt.Sprintf("belongs to user %d but this program runs as user %d", owner, euid),
			"run the program as the owner, or give the file to the user that runs it")
	}
	return nil
}

// FileOwner returns the number of the user that a file or folder belongs to.
func FileOwner(info os.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return -1
}

// cannotSync reports whether the error means that the folder cannot be synced at all: read-only, or not supported.
func cannotSync(err error) bool {
	return errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EINVAL)
}

// waitForLock blocks until this process has the exclusive lock on the file.
func waitForLock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if !errors.Is(err, syscall.EINTR) { // a signal woke us: wait again
			return err
		}
	}
}
