// Package bucket reads and writes objects, each a name and bytes, in a folder or in S3.
//
// It is as much of a bucket as the service needs: list, read from an offset, write whole, delete. An object that is
// written appears whole under its name or not at all. S3 is asked through minio-go's client.
package bucket

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/durable"
)

// ErrMissing means that there is no object of that name.
var ErrMissing = errors.New("bucket: no such object")

// Object is one entry of a list.
type Object struct {
	Key      string
	Size     int64
	Modified time.Time
}

// Mark returns the name of the object with what changes when its content does.
func (o Object) Mark() string { return fmt.Sprintf("%s %d %d", o.Key, o.Size, o.Modified.UnixNano()) }

// Bucket holds objects. It may be used by many at once and has nothing to close.
type Bucket interface {
	// List returns the objects whose names begin with prefix, in the order of their names.
	List(ctx context.Context, prefix string) ([]Object, error)
	// Read streams an object from an offset to its end.
	Read(ctx context.Context, key string, from int64) (io.ReadCloser, error)
	// Write stores what a file holds, and replaces what the name meant before.
	Write(ctx context.Context, key string, from *os.File) error
	// Delete removes an object. One that is not there is no error.
	Delete(ctx context.Context, key string) error
}

// Open returns the bucket at an address: s3://bucket?region=... or file:///folder. It makes no request yet. Later
// requests go through client, which decides what may be dialled; nil, for addresses that the operator set, means any
// address.
func Open(address string, client *http.Client) (Bucket, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("bucket: not an address") // url's error repeats it, and what follows its question mark may be secret
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, errors.New("bucket: the parameters of the address cannot be read")
	}
	switch u.Scheme {
	case "s3":
		return openS3Bucket(u.Host, strings.Trim(u.Path, "/"), query, client)
	case "file":
		if u.Host != "" || len(query) > 0 {
			return nil, errors.New("bucket: a folder is file:///path, without parameters")
		}
		return NewFolderBucket(filepath.FromSlash(u.Path))
	}
	return nil, fmt.Errorf("bucket: %q is neither s3:// nor file://", u.Scheme)
}

// ReadAll reads an object of at most limit bytes.
func ReadAll(ctx context.Context, b Bucket, key string, limit int64) ([]byte, error) {
	r, err := b.Read(ctx, key, 0)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	if int64(len(text)) > limit {
		return nil, fmt.Errorf("bucket: object larger than %d bytes", limit)
	}
	return text, nil
}

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
	if err := f.root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
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
