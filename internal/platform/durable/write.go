package durable

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// WriteFile puts a small file under its name, in place of what was there.
func WriteFile(path string, content []byte) error {
	return writeAndPublish(path, content, (*File).PublishFile)
}

// WriteNewFile is WriteFile for a name that must be free: fs.ErrExist says that it is not.
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
