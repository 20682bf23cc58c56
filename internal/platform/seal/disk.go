package seal

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/vigiahq/vigia/internal/platform/durable"
)

// maxFileSize is far above any real file (a key takes about 200 bytes) and bounds what a wrong path makes us read.
const maxFileSize = 1 << 20

// readKeyFile reads a key file that only we can have written and only we can read. Everything is checked on the open
// file, so it cannot be changed for another between check and read.
func readKeyFile(path string) ([]byte, os.FileInfo, error) {
	f, err := openPlain(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, ErrNoKeyFile.Note(
			"there is no key file at %+q; restore it from its copy, as a new one cannot open an existing database",
			path,
		)
	case errors.Is(err, errLink):
		return nil, nil, unsafeFile(path, "is a symbolic link", "give the path of the file itself")
	case err != nil:
		return nil, nil, ErrKeyFileIO.Note("cannot open the key file %+q", path).Because(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, ErrKeyFileIO.Note("cannot examine the key file %+q", path).Because(err)
	}
	if err := checkFile(path, info, os.Geteuid()); err != nil {
		return nil, nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxFileSize+1))
	if err != nil {
		return nil, nil, ErrKeyFileIO.Note("cannot read the key file %+q", path).Because(err)
	}
	if len(raw) > maxFileSize {
		return nil, nil, malformed(path, "it is too large")
	}
	return raw, info, nil
}

// unsafeFile returns the error for a key file that is not used because of its type, mode or owner, with the remedy.
func unsafeFile(path, why, remedy string) error {
	return ErrKeyFileUnsafe.Note("the key file %+q %s: %s", path, why, remedy)
}

// writeNewFile puts raw at path in one step: after a crash there is no file or all of it. It refuses to replace one.
// The caller holds the lock, so no other writer is at it.
func writeNewFile(path string, raw []byte) error {
	err := durable.WriteNewFile(path, raw)
	if errors.Is(err, fs.ErrExist) {
		return ErrKeyFileExists.Note("%+q exists and is never overwritten; open it, or choose another path", path)
	}
	if err != nil {
		return cannotWrite(path, err)
	}
	return nil
}

// syncRenamed makes a file that another process has just renamed into place durable before anything is wrapped by its
// key; otherwise a power cut could take the key away. Where the folder cannot be synced because we may
// not read it or it is read-only, no process of our user renames files in it either.
func syncRenamed(path string) error {
	err := durable.SyncFolder(filepath.Dir(path))
	if errors.Is(err, fs.ErrPermission) || cannotSync(err) {
		return nil
	}
	if err != nil {
		return ErrKeyFileIO.Note("cannot sync the folder of the key file %+q", path).Because(err)
	}
	return nil
}

// cannotWrite returns the error for a key file that could not be written, with what to check.
func cannotWrite(path string, err error) error {
	const remedy = "cannot write the key file %+q; see that its folder exists, is writable and has room"
	return ErrKeyFileIO.Note(remedy, path).Because(err)
}

// lockKeyFile keeps other processes from making the key file until unlock is called. The lock is a file beside it;
// the system drops the lock when the process ends, however it ends.
func lockKeyFile(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE|noFollow, 0o600)
	if err != nil {
		return nil, cannotWrite(path, err)
	}
	err = f.Chmod(0o600) // a strange umask must not keep us out: the next process must be able to open it
	if err == nil {
		err = waitForLock(f)
	}
	if err != nil {
		return nil, errors.Join(cannotWrite(path, err), f.Close())
	}
	return func() { _ = f.Close() }, nil
}
