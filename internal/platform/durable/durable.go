// Package durable puts files under their names, so that neither a crash nor a power cut leaves a half file there.
//
// There is one way to do it: write beside the name, sync the file, give it its name, sync the folder. A file without
// the first sync may be empty after a power cut although its name is there; a name without the second may be gone
// although its writer reported success. The linter refuses code that renames, links or syncs elsewhere in the tree.
//
// BUG(durable): after an error of a sync the file may still have its name, or get it with the next crash. Callers
// report the error and let the work be done again.
package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrBusy means that another writer, perhaps of another process, is at work on the same file.
var ErrBusy = errors.New("another writer is at work on this file")

// system is what is asked of the operating system. A test stands in between to see the order, or to let a step fail.
type system struct {
	sync         func(*os.File) error
	rename, link func(from, to string) error
	syncFolder   func(folder string) error
}

// calls are the system's; tests replace them to see what a failing disk leaves behind.
var calls = system{sync: (*os.File).Sync, rename: os.Rename, link: os.Link, syncFolder: syncFolder}

// File is written beside the name that it is going to have. Until it is published nothing of it is under that name.
type File struct {
	*os.File
	path string
	over bool // published, discarded or without a name: there is nothing left to take away
}

// CreateFile opens path + ".tmp" with mode 0600, empty and locked. A second writer of the same path gets ErrBusy; what
// a killed writer left is removed.
func CreateFile(path string) (*File, error) {
	name := path + ".tmp"
	for {
		f, err := openTemporary(name)
		if errors.Is(err, fs.ErrExist) {
			if err = removeLeftover(name); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		owned, err := lockTemporary(f, name)
		if err == nil && owned {
			err = f.Chmod(0o600) // a strange umask may have taken our own bits away
		}
		if err == nil && owned {
			return &File{File: f, path: path}, nil
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
	}
}

// removeLeftover removes a file that has no writer any more. The file is not reused: another process may have created
// it, and may still have it open.
func removeLeftover(name string) error {
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // gone meanwhile
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() { // no writer of ours makes one
		return os.Remove(name)
	}
	f, err := openExisting(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	owned, err := lockTemporary(f, name)
	if err == nil && owned {
		err = os.Remove(name)
	}
	return errors.Join(err, f.Close())
}

// lockTemporary locks f. It reports false when name no longer leads to f: its writer published or dropped it between
// our opening and our locking, and to take the name away now would destroy what another one writes.
func lockTemporary(f *os.File, name string) (bool, error) {
	locked, err := TryLockFile(f)
	if err != nil {
		return false, err
	}
	if !locked {
		return false, ErrBusy
	}
	mine, err := f.Stat()
	if err != nil {
		return false, err
	}
	named, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(mine, named), err
}

// PublishFile gives the file its name, in place of what was there. When it returns, file and name are on disk. It ends
// the file, whatever comes of it.
func (f *File) PublishFile() error { return f.publishBy(calls.rename) }

// PublishNew is PublishFile for a name that must be free: fs.ErrExist says that it is not, and what is there stays.
func (f *File) PublishNew() error { return f.publishBy(linkNewName) }

// publishBy calls name to move the file to its name. Afterwards the temporary name is free for another writer and no
// longer ours.
func (f *File) publishBy(name func(from, to string) error) error {
	defer f.DiscardFile()
	if err := calls.sync(f.File); err != nil {
		return err
	}
	if err := name(f.Name(), f.path); err != nil {
		return err
	}
	f.over = true
	return errors.Join(calls.syncFolder(filepath.Dir(f.path)), f.Close())
}

// linkNewName uses a link, because a rename would replace what came meanwhile. A file system without links is left with
// a look.
func linkNewName(from, to string) error {
	err := calls.link(from, to)
	if err == nil {
		_ = os.Remove(from) // what is left is removed by the next writer, and is not written to
		return nil
	}
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	switch _, err := os.Lstat(to); {
	case err == nil:
		return fs.ErrExist
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return calls.rename(from, to)
}

// DiscardFile gives the file up. After Publish it does nothing, so it can be deferred.
func (f *File) DiscardFile() {
	if f.over {
		return
	}
	f.over = true
	// The name goes first: while the file is open it is locked, so no other process can own the name yet.
	_ = os.Remove(f.Name())
	_ = f.Close()
}

// RemoveName takes the file's name away for good and leaves the file open, so that a killed process leaves nothing of
// it behind.
func (f *File) RemoveName() (*os.File, error) {
	if err := os.Remove(f.Name()); err != nil {
		return nil, err
	}
	f.over = true
	return f.File, nil
}
