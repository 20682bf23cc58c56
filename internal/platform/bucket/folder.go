package bucket

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/platform/durable"
)

// folder keeps objects as files below a folder; a slash in a name is a folder in it. The root keeps every name inside,
// links included.
type folder struct{ root *os.Root }

// NewFolderBucket returns the bucket that a folder of this machine is.
func NewFolderBucket(dir string) (Bucket, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("bucket: %w", err)
	}
	return folder{root}, nil // closed by its finalizer: a bucket has nothing to close
}

// List returns the files whose name begins with prefix, by name. A file that is deleted meanwhile is left out.
func (f folder) List(ctx context.Context, prefix string) ([]Object, error) {
	var objects []Object
	err := fs.WalkDir(f.root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || !strings.HasPrefix(name, prefix) {
			return cmp.Or(err, ctx.Err())
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // deleted meanwhile
		}
		if err != nil {
			return err
		}
		objects = append(objects, Object{Key: name, Size: info.Size(), Modified: info.ModTime()})
		return nil
	})
	slices.SortFunc(objects, func(a, b Object) int { return strings.Compare(a.Key, b.Key) })
	return objects, err
}

func (f folder) Read(_ context.Context, key string, from int64) (io.ReadCloser, error) {
	file, err := f.root.Open(filepath.FromSlash(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", ErrMissing, err)
	}
	if err != nil {
		return nil, err
	}
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

func (f folder) Write(ctx context.Context, key string, from *os.File) error {
	name, err := filepath.Localize(key)
	if err != nil {
		return fmt.Errorf("bucket: %w", err)
	}
	if dir := filepath.Dir(name); dir != "." {
		if err := f.root.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		for ; dir != "."; dir = filepath.Dir(dir) {
			if err := durable.SyncFolder(filepath.Join(f.root.Name(), filepath.Dir(dir))); err != nil {
				return err
			}
		}
	}
	file, err := durable.CreateFile(filepath.Join(f.root.Name(), name))
	if err != nil {
		return err
	}
	defer file.DiscardFile()
	if _, err := from.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if _, err := io.Copy(file, untilDone{ctx, from}); err != nil {
		return err
	}
	return file.PublishFile()
}

// Delete removes the file; one that does not exist is no error, as on S3.
func (f folder) Delete(_ context.Context, key string) error {
	if err := f.root.Remove(filepath.FromSlash(key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// untilDone ends a copy when its context does.
type untilDone struct {
	ctx context.Context //nolint:containedctx // io.Reader takes none, and it lives no longer than one copy
	io.Reader
}

func (u untilDone) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.Reader.Read(p)
}
