package durable

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// openTemporary creates a file; a name that exists is an error.
func openTemporary(name string) (*os.File, error) { return openShared(name, windows.CREATE_NEW) }

func openExisting(name string) (*os.File, error) { return openShared(name, windows.OPEN_EXISTING) }

// openShared opens a file that may get or lose its name while it is open, which os.OpenFile does not allow here.
func openShared(name string, how uint32) (*os.File, error) {
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	share := uint32(windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE)
	h, err := windows.CreateFile(
		path,
		windows.GENERIC_READ|windows.GENERIC_WRITE,
		share,
		nil,
		how,
		windows.FILE_ATTRIBUTE_NORMAL,
		0,
	)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(h), name), nil
}

// TryLockFile locks the file against other processes and says whether it could. The lock goes when the file is closed.
func TryLockFile(f *os.File) (bool, error) {
	// Locks hinder reading here, so the byte that is locked lies behind all content.
	at := windows.Overlapped{OffsetHigh: 1 << 30}
	err := windows.LockFileEx(
		windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0,
		1,
		0,
		&at,
	)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// syncFolder does nothing: a folder cannot be synced here, and NTFS keeps a journal of names.
func syncFolder(string) error { return nil }
