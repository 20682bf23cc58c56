package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

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

// RenameNew is RenameSynced for a name that must be free: fs.ErrExist says that it is not, and what is there stays.
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
