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
	"io"
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

// steadyBytes is how much a steady writer leaves to a sync.
const steadyBytes = 8 << 20

// SteadyWriter returns what writes to the file and syncs it every few megabytes. Left to the end, the sync of a large
// file keeps the disk busy for so long that everybody who syncs a small one meanwhile waits behind it.
func (f *File) SteadyWriter() io.Writer { return &steady{file: f.File} }

// steady is a writer that spreads the syncs of a large file over the time of writing.
type steady struct {
	file    *os.File
	pending int // bytes since the last sync
}

// Write writes and, after every steadyBytes, syncs.
func (s *steady) Write(p []byte) (int, error) {
	n, err := s.file.Write(p)
	if s.pending += n; err == nil && s.pending >= steadyBytes {
		s.pending = 0
		err = calls.sync(s.file)
	}
	return n, err
}

// PublishFile gives the file its name, in place of what was there. When it returns, file and name are on disk. It ends
// the file, whatever comes of it.
func (f *File) PublishFile() error { return f.publishBy(calls.rename) }

// PublishNew is Publish for a name that must be free: fs.ErrExist says that it is not, and what is there stays.
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

// WriteFile puts a small file under its name, in place of what was there.
func WriteFile(path string, content []byte) error {
	return writeAndPublish(path, content, (*File).PublishFile)
}

// WriteNewFile is Write for a name that must be free: fs.ErrExist says that it is not.
func WriteNewFile(path string, content []byte) error {
	return writeAndPublish(path, content, (*File).PublishNew)
}

// writeAndPublish writes a file under its temporary name and publishes it.
func writeAndPublish(path string, content []byte, publish func(*File) error) error {
	f, err := CreateFile(path)
	if err != nil {
		return err
	}
	defer f.DiscardFile()
	if _, err := f.Write(content); err != nil {
		return err
	}
	return publish(f)
}

// ProveFolder proves that a folder takes writes: it writes, syncs and removes a small file. Files that killed processes
// have left of it hold nothing.
func ProveFolder(folder string) error {
	f, err := os.CreateTemp(folder, ".probe-*")
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte{1}, 0)
	return errors.Join(err, SyncAndClose(f), os.Remove(f.Name()))
}

// AppendToFile adds to the end of a file of mode 0600, which is made if need be. A crash may leave a part of what was
// added.
func AppendToFile(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(filepath.Clean(path), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), SyncAndClose(f)); err != nil {
		return err
	}
	return calls.syncFolder(filepath.Dir(path))
}

// SyncAndClose syncs and closes a file that has its name already: in a folder that counts for nothing until it is
// renamed as a whole.
func SyncAndClose(f *os.File) error { return errors.Join(calls.sync(f), f.Close()) }

// RenameSynced gives a file or folder, all of whose content is on disk, another name in place of what was there.
func RenameSynced(from, to string) error {
	if err := calls.rename(from, to); err != nil {
		return err
	}
	if filepath.Dir(from) != filepath.Dir(to) {
		if err := calls.syncFolder(filepath.Dir(from)); err != nil {
			return err
		}
	}
	return calls.syncFolder(filepath.Dir(to))
}

// RenameNew is Rename for a name that must be free: fs.ErrExist says that it is not, and what is there stays.
func RenameNew(from, to string) error {
	if err := linkNewName(from, to); err != nil {
		return err
	}
	return calls.syncFolder(filepath.Dir(to))
}

// LinkSynced gives a file whose content is on disk a second name. A name that is taken is fs.ErrExist; the name is
// synced then too, because the process that took it may have died before it synced.
func LinkSynced(from, to string) error {
	err := calls.link(from, to)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return errors.Join(err, calls.syncFolder(filepath.Dir(to)))
}

// MakeFolder makes a folder and those above it where they are missing, and syncs the name of each that it made: what is
// synced inside a folder is gone with the folder when a power cut takes its name away.
func MakeFolder(path string, mode fs.FileMode) error {
	path = filepath.Clean(path)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil
	}
	parent := filepath.Dir(path)
	if parent != path {
		if err := MakeFolder(parent, mode); err != nil {
			return err
		}
	}
	if err := os.Mkdir(path, mode); err != nil {
		if info, serr := os.Stat(path); serr != nil || !info.IsDir() { // otherwise another process made it meanwhile
			return err
		}
	}
	return calls.syncFolder(parent)
}

// SyncFolder makes the names in a folder durable.
func SyncFolder(folder string) error { return calls.syncFolder(folder) }

// SyncFolders is SyncFolder for a folder and all folders inside it.
func SyncFolders(root string) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		return calls.syncFolder(path)
	})
}
