package intake

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"

	"github.com/vigiahq/vigia/internal/platform/bucket"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// bucketInputs lists the objects of a bucket whose names begin with what follows the bucket's name.
func bucketInputs(ctx context.Context, client *http.Client, arg string) ([]Input, error) {
	address, prefix, err := splitBucket(arg)
	if err != nil {
		return nil, err
	}
	entries, err := openAndList(ctx, client, address, prefix)
	if err != nil {
		return nil, ErrInput.With("inputs", fault.BucketUnreadable).Because(err)
	}
	inputs := make([]Input, 0, len(entries))
	for _, e := range entries {
		inputs = append(inputs, bucketInput(client, address, e))
	}
	return inputs, nil
}

// openAndList lists the objects of a bucket whose names begin with prefix.
func openAndList(ctx context.Context, client *http.Client, address, prefix string) ([]bucket.Object, error) {
	b, err := bucket.Open(address, client)
	if err != nil {
		return nil, err
	}
	return b.List(ctx, prefix)
}

// OpenObject reads an object of a bucket in place: archives that begin at their end need that.
func OpenObject(ctx context.Context, b bucket.Bucket, o bucket.Object) io.ReadCloser {
	r := &object{ctx: ctx, bucket: b, key: o.Key, size: o.Size}
	return objectReader{io.NewSectionReader(r, 0, o.Size), r}
}

// splitBucket tells a bucket's address from the names in it: s3://bucket/prefix?region=..., and for files the last
// element of the path.
func splitBucket(arg string) (address, prefix string, err error) {
	u, err := url.Parse(arg)
	if err != nil {
		return "", "", ErrInput.With("inputs", fault.NotABucket).Because(err)
	}
	if u.Scheme == "file" {
		if !strings.HasSuffix(u.Path, "/") {
			u.Path, prefix = path.Split(u.Path)
		}
	} else {
		u.Path, prefix = "", strings.TrimPrefix(u.Path, "/")
	}
	return u.String(), prefix, nil
}

// bucketInput opens the bucket anew for each reading, so that it can be used at any time.
func bucketInput(client *http.Client, address string, e bucket.Object) Input {
	in := ReaderInput(
		ShownAddress(address)+e.Key,
		address+" "+e.Mark(),
		e.Size,
		func(ctx context.Context) (io.ReadCloser, error) {
			b, err := bucket.Open(address, client)
			if err != nil {
				return nil, err
			}
			return OpenObject(ctx, b, e), nil
		},
	)
	in.inner = e.Key
	return in
}

// object reads an object of a bucket as if it were a file: in one stream while reads follow each other, in a new one
// from the offset asked for otherwise. So archives that begin at their end are read where they are.
type object struct {
	ctx    context.Context //nolint:containedctx // io.ReaderAt takes none; an object ends with its import
	bucket bucket.Bucket
	key    string
	size   int64

	mu     sync.Mutex
	stream io.ReadCloser
	pos    int64 // of the stream
}

// objectReader reads an object on, in place and from anywhere.
type objectReader struct {
	*io.SectionReader
	io.Closer
}

// passOver is up to how many bytes are read and thrown away rather than asked for anew.
const passOver = 256 << 10

// ReadAt reads from an offset, with a stream of its own if need be.
func (o *object) ReadAt(p []byte, off int64) (n int, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if off >= o.size {
		return 0, io.EOF
	}
	if err := o.moveStream(off); err != nil {
		return 0, err
	}
	n, err = io.ReadFull(o.stream, p[:min(int64(len(p)), o.size-off)])
	o.pos += int64(n)
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

// moveStream brings the stream to an offset.
func (o *object) moveStream(off int64) error {
	if gap := off - o.pos; o.stream != nil && gap > 0 && gap <= passOver {
		n, err := io.CopyN(io.Discard, o.stream, gap)
		o.pos += n
		if err == nil {
			return nil
		}
	}
	if o.stream != nil && o.pos == off {
		return nil
	}
	if err := o.closeStream(); err != nil {
		return err
	}
	r, err := o.bucket.Read(o.ctx, o.key, off)
	if err != nil {
		return fmt.Errorf("read object: %w", err)
	}
	o.stream, o.pos = r, off
	return nil
}

func (o *object) closeStream() error {
	if o.stream == nil {
		return nil
	}
	err := o.stream.Close()
	o.stream = nil
	return err
}

// Close lets go of the stream.
func (o *object) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.closeStream()
}
