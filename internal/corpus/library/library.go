// Package library keeps the files that leaks are looked up in: immutable segments, each under a name that says what is
// in it.
//
// A folder on this machine always holds them, because they are read in place. Where many replicas run, a bucket holds
// them too: what one replica publishes the others fetch, check from the first byte to the last, and keep. The package
// knows neither breaches nor fingerprints. The invariant it keeps: under a name there is the whole file with the
// asked-for digest, or nothing.
package library

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/vigiahq/vigia/internal/corpus/segment"
	"github.com/vigiahq/vigia/internal/platform/bucket"
	"github.com/vigiahq/vigia/internal/platform/durable"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Faults of this package.
var (
	ErrAddress = fault.New(fault.Invalid, "corpora.address")
	ErrName    = fault.New(fault.Invalid, "corpora.name")
	ErrMissing = fault.New(fault.Unavailable, "corpora.missing")
	ErrDamaged = fault.New(fault.Unavailable, "corpora.damaged")
)

// Files are the segment files of all breaches, in a folder and, for replicas, in a bucket.
type Files struct {
	dir    string
	bucket bucket.Bucket // nil: the folder is all there is
	// OpenTable undoes what sealed the labels of segments; without it they stay shut.
	OpenTable func(context, sealed []byte) ([]byte, error)
}

// OpenFiles makes the folder if need be and opens the bucket at address (s3://bucket?region=..., file:///folder); an
// empty address means that the folder is all there is.
func OpenFiles(dir, address string) (*Files, error) {
	if err := durable.MakeFolder(dir, 0o700); err != nil {
		return nil, fmt.Errorf("corpora folder: %w", err)
	}
	d := &Files{dir: dir}
	if address == "" {
		return d, nil
	}
	var err error
	if d.bucket, err = openBucket(address); err != nil {
		return nil, err
	}
	return d, nil
}

// PublishFile publishes the file at from under name. The caller keeps from. Publishing the same file again changes
// nothing. When it returns, the file is in the folder and, where there is a bucket, in it: other replicas can fetch
// it.
func (d *Files) PublishFile(ctx context.Context, name, from string) error {
	path, err := d.localPath(name)
	if err != nil {
		return err
	}
	if d.bucket != nil {
		if err := d.UploadFile(ctx, name, from); err != nil {
			return err
		}
	}
	// A link costs nothing and is atomic; across file systems, or on one without links, it has to be a copy.
	err = durable.LinkSynced(from, path)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		err = copyFile(path, from)
	}
	if err != nil {
		return fmt.Errorf("publish segment: %w", err)
	}
	return nil
}

// Open opens the file called name after making sure that it is the one with that digest, fetching it from the bucket if
// this machine has no sound copy. Of several that want to fetch it one does, and the others wait.
func (d *Files) Open(ctx context.Context, name, digest string) (*segment.Reader, error) {
	path, err := d.localPath(name)
	if err != nil {
		return nil, err
	}
	for {
		r, err := d.openLocal(path, digest)
		if err == nil || d.bucket == nil {
			if errors.Is(err, os.ErrNotExist) {
				err = ErrMissing.Because(err)
			}
			return r, err
		}
		err = d.FetchFile(ctx, name, path, digest)
		if err == nil {
			return d.openLocal(path, digest)
		}
		if !errors.Is(err, durable.ErrBusy) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(busyPause):
		}
	}
}

// RemoveFile takes the file away everywhere. Removing what is not there is no error.
func (d *Files) RemoveFile(ctx context.Context, name string) error {
	if err := d.ForgetLocal(name); err != nil || d.bucket == nil {
		return err
	}
	if err := d.bucket.Delete(ctx, name); err != nil {
		return fmt.Errorf("remove segment: %w", err)
	}
	return nil
}
