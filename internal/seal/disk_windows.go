package seal

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// Windows has no modes, and owners that say little: who may read the key file is decided by the access list of its
// folder, which the operator sets and this package does not look at. docs/operations.md says so. Links are refused, and
// locks hold, as elsewhere.

const noFollow = 0

var errLink = errors.New("a symbolic link")

// openPlain opens a file for reading. A link could be put there between the look and the opening, by somebody who may
// write to the folder.
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

func checkFile(path string, info os.FileInfo, _ int) error {
	if !info.Mode().IsRegular() {
		return unsafeFile(path, "is not a regular file", "give the path of a key file")
	}
	return nil
}

// FileOwner is the number of the user that a file or folder belongs to.
func FileOwner(os.FileInfo) int { return 0 }

func cannotSync(error) bool { return false }

func waitForLock(f *os.File) error {
	var at windows.Overlapped
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, &at)
}
