package segment

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// newMapping reads the file. Windows refuses to remove or replace a file while it is mapped, and sets of passwords are replaced while
// they are used; the price is their size in memory.
func newMapping(f *os.File, size int64) (*mapping, error) {
	data := make([]byte, size)
	if _, err := f.ReadAt(data, 0); err != nil {
		return nil, err
	}
	return &mapping{data: data}, nil
}

// TryLock locks the file against other processes and says whether it could. The lock goes when the file is closed.
func TryLock(f *os.File) (bool, error) {
	// Locks hinder reading here, so the byte that is locked lies behind all content.
	at := windows.Overlapped{OffsetHigh: 1 << 30}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// openShared opens a file that may lose its name while it is open, which os.OpenFile does not allow here.
func openShared(name string) (*os.File, error) {
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	h, err := windows.CreateFile(path, windows.GENERIC_READ|windows.GENERIC_WRITE, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE,
		nil, windows.OPEN_ALWAYS, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(h), name), nil
}

// SyncFolder does nothing: a folder cannot be synced here, and NTFS keeps a journal of names.
func SyncFolder(string) error { return nil }
