package seal

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// Windows has no modes, and owners that say little: who may read the key file is decided by the access list of its
// folder, which the operator sets and this package does not look at. docs/install.md says so. Links are refused, and
// locks hold, as elsewhere.

const noFollow = 0

var errLink = errors.New("a symbolic link")

// openPlain opens a file for reading and refuses a link. A process that may write to the folder could still put a link
// there between the check and the opening.
func openPlain(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return nil, errLink
	}
	return os.Open(path)
}

// checkFile refuses what is not a regular file. Modes and owners say nothing on Windows.
func checkFile(path string, info os.FileInfo, _ int) error {
	if !info.Mode().IsRegular() {
		return unsafeFile(path, "is not a regular file", "give the path of a key file")
	}
	return nil
}

// FileOwner returns the number of the user that a file or folder belongs to.
func FileOwner(os.FileInfo) int { return 0 }

// cannotSync is false: syncing a folder does nothing on Windows, so it cannot fail.
func cannotSync(error) bool { return false }

// waitForLock blocks until this process has the exclusive lock on the file.
func waitForLock(f *os.File) error {
	var at windows.Overlapped
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, &at)
}
