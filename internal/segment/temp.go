package segment

import (
	"errors"
	"os"
	"path/filepath"
)

// openTemp opens the temporary file name for one writer: locked and empty. A file that a dead writer left is taken over.
func openTemp(name string) (*os.File, error) {
	for {
		f, err := openShared(name)
		if err != nil {
			return nil, err
		}
		owned, err := own(f, name)
		if err == nil && owned {
			return f, nil
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
	}
}

// own locks f and empties it. It reports false when name no longer leads to f: its writer published or dropped it between our
// opening and our locking, and emptying it now would destroy a published segment.
func own(f *os.File, name string) (bool, error) {
	locked, err := TryLock(f)
	if err != nil {
		return false, err
	}
	if !locked {
		return false, ErrBusy.With("another writer is at work on this segment")
	}
	mine, err := f.Stat()
	if err != nil {
		return false, err
	}
	named, err := os.Stat(name)
	if errors.Is(err, os.ErrNotExist) || (err == nil && !os.SameFile(mine, named)) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, f.Truncate(0)
}

// replaceTemp takes the name away from the file that holds it, which its owner goes on using, and opens a new one.
func replaceTemp(name string) (*os.File, error) {
	if err := os.Remove(name); err != nil {
		return nil, err
	}
	return openTemp(name)
}

// WriteFile publishes a small file that goes with segments, as a segment is published: written beside its name, synced, renamed,
// folder synced. Callers see to it that there is one writer.
func WriteFile(path string, content []byte) error {
	f, err := os.OpenFile(path+".tmp", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(path))
}
