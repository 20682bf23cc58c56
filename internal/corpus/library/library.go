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
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
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

// openBucket opens a bucket, or returns ErrAddress with what is wrong with its address.
func openBucket(address string) (bucket.Bucket, error) {
	b, err := bucket.Open(address, nil)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, ErrAddress.Note("corpora: %s: make the folder, with mode 0700", err)
	case err != nil:
		return nil, ErrAddress.Note("corpora: expected s3://bucket?region=... or file:///folder: %s", err)
	}
	return b, nil
}

// bucketProbe is a name that no file has, so that the list of a large bucket is one short answer.
const bucketProbe = ".vigia-access-"

// CheckBucket returns an error when the bucket at an address cannot be listed: ErrAddress, with the remedy, when it
// does not exist. An empty address is no bucket and no error.
func CheckBucket(ctx context.Context, address string) error {
	if address == "" {
		return nil
	}
	b, err := openBucket(address)
	if err != nil {
		return err
	}
	if _, err = b.List(ctx, bucketProbe); errors.Is(err, bucket.ErrNoBucket) {
		return ErrAddress.Note("corpora: %s", err)
	}
	return err
}

// IsShared reports whether other machines find here what this one puts.
func (d *Files) IsShared() bool { return d.bucket != nil }

// fileName keeps every name inside the folder.
var fileName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,200}\.seg$`)

// localPath returns where a file is kept here.
func (d *Files) localPath(name string) (string, error) {
	if !fileName.MatchString(name) || strings.Contains(name, "..") {
		return "", ErrName
	}
	return filepath.Join(d.dir, name), nil
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

// UploadFile sends a file to the bucket, which there must be.
func (d *Files) UploadFile(ctx context.Context, name, from string) error {
	f, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("upload segment: %w", err)
	}
	defer func() { _ = f.Close() }() // only read
	if err := d.bucket.Write(ctx, name, f); err != nil {
		return fmt.Errorf("upload segment: %w", err)
	}
	return nil
}

// copyFile publishes a copy of a file here.
func copyFile(path, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read
	return receiveFile(path, in, func(string) error { return nil })
}

// receiveFile publishes what it reads, after check has seen the whole file under another name.
func receiveFile(path string, in io.Reader, check func(arrived string) error) error {
	out, err := durable.CreateFile(path)
	if err != nil {
		return err
	}
	defer out.DiscardFile()
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	if err := check(out.Name()); err != nil {
		return err
	}
	return out.PublishFile()
}

// busyPause is how long to wait before looking again whether another process has fetched a file.
const busyPause = 50 * time.Millisecond

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

func (d *Files) openLocal(path, digest string) (*segment.Reader, error) {
	r, err := segment.Open(path)
	if err != nil {
		return nil, err
	}
	if d.OpenTable != nil {
		if err := r.OpenLabels(d.OpenTable); err != nil {
			return nil, errors.Join(ErrDamaged.Note("segment: its labels cannot be opened").Because(err), r.Close())
		}
	}
	if r.Digest().String() != digest {
		return nil, errors.Join(ErrDamaged.Note("segment: not the file that was published"), r.Close())
	}
	return r, nil
}

// FetchFile brings a copy from the bucket, which there must be, to path and checks all of it before it gets its name:
// what a lookup meets later was whole once.
func (d *Files) FetchFile(ctx context.Context, name, path, digest string) error {
	in, err := d.bucket.Read(ctx, name, 0)
	if err != nil {
		if errors.Is(err, bucket.ErrMissing) {
			return ErrMissing.Because(err)
		}
		return fmt.Errorf("fetch segment: %w", err)
	}
	defer func() { _ = in.Close() }() // only read
	err = receiveFile(path, in, func(arrived string) error {
		r, err := d.openLocal(arrived, digest)
		if err == nil {
			err = errors.Join(r.VerifyAll(ctx), r.Close())
		}
		if err != nil {
			return ErrDamaged.Note("segment: damaged in the bucket").Because(err)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("fetch segment: %w", err)
	}
	return nil
}

// ForgetLocal removes the local copy; a process that reads it keeps it until it lets go.
func (d *Files) ForgetLocal(name string) error {
	path, err := d.localPath(name)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
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

// ListLocal lists the local files.
func (d *Files) ListLocal() ([]string, error) {
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if fileName.MatchString(e.Name()) && e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}
