package library

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/vigiahq/vigia/internal/platform/bucket"
)

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

// busyPause is how long to wait before looking again whether another process has fetched a file.
const busyPause = 50 * time.Millisecond

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
