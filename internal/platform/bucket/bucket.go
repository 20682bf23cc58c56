// Package bucket reads and writes objects, each a name and bytes, in a folder or in S3.
//
// It is as much of a bucket as the service needs: list, read from an offset, write whole, delete. An object that is
// written appears whole under its name or not at all. S3 is asked through minio-go's client.
package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ErrMissing means that there is no object of that name.
var ErrMissing = errors.New("bucket: no such object")

// ErrNoBucket means that the bucket itself does not exist. The error that wraps it says how it is made.
var ErrNoBucket = errors.New("bucket: no such bucket")

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
		return nil, errors.New(
			"bucket: not an address",
		) // url's error repeats it, and what follows its question mark may be secret
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
