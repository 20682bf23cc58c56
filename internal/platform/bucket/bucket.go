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
	"strconv"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/vigiahq/vigia/internal/platform/durable"
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

// s3 is a bucket of S3, or of a service that speaks like it.
type s3 struct {
	name   string
	region string
	client *minio.Core
	// credentials is nil for a bucket that everybody may read.
	credentials *credentials.Credentials
}

// s3Transport is shared, so that buckets which are opened anew for each object use the connections of those before.
var s3Transport = func() *http.Transport {
	transport, _ := http.DefaultTransport.(*http.Transport)
	transport = transport.Clone()
	transport.ResponseHeaderTimeout = time.Minute
	transport.DisableCompression = true // an object is what was stored, not what it unpacks to
	return transport
}()

// openS3Bucket reads the parameters region, endpoint, use_path_style, disable_https, profile, anonymous and metadata.
// What they leave open comes from the environment variables that every tool for S3 reads.
func openS3Bucket(name, path string, query url.Values, client *http.Client) (Bucket, error) {
	if name == "" || path != "" {
		return nil, errors.New("bucket: expected s3://bucket, and nothing but parameters behind it")
	}
	for key := range query {
		switch key {
		case "region", "endpoint", "use_path_style", "disable_https", "profile", "anonymous", "metadata":
		default:
			return nil, fmt.Errorf("bucket: there is no parameter %q", key)
		}
	}
	var flags [4]bool
	for i, key := range []string{"use_path_style", "disable_https", "anonymous", "metadata"} {
		var err error
		if flags[i], err = strconv.ParseBool(cmp.Or(query.Get(key), "false")); err != nil {
			return nil, fmt.Errorf("bucket: %s is neither true nor false", key)
		}
	}
	region := cmp.Or(query.Get("region"), os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"))
	if region == "" {
		return nil, errors.New("bucket: s3://bucket?region=... or AWS_REGION has to say where the bucket is")
	}
	endpoint, err := s3Endpoint(query.Get("endpoint"), region, flags[1])
	if err != nil {
		return nil, err
	}
	b := &s3{name: name, region: region}
	options := &minio.Options{
		Secure:       endpoint.Scheme == "https",
		Region:       region,
		Transport:    s3Transport,
		MaxRetries:   4,
		BucketLookup: minio.BucketLookupDNS,
	}
	if client != nil && client.Transport != nil {
		options.Transport = client.Transport
	}
	// A certificate covers one label before the endpoint's name, so a bucket with a dot in its name stands in the path
	// too.
	if flags[0] || (strings.Contains(name, ".") && options.Secure) {
		options.BucketLookup = minio.BucketLookupPath
	}
	options.Creds = credentials.NewStatic("", "", "", credentials.SignatureAnonymous)
	if !flags[2] {
		b.credentials = s3Credentials(query.Get("profile"), flags[3])
		options.Creds = b.credentials
	}
	if b.client, err = minio.NewCore(endpoint.Host, options); err != nil {
		return nil, errors.New("bucket: the address of the bucket's service cannot be used")
	}
	return b, nil
}

// s3Endpoint returns the server's address: the given one, that of the environment, or AWS's own for the region. plain
// means HTTP without TLS, for tests and servers on the same machine.
func s3Endpoint(text, region string, plain bool) (*url.URL, error) {
	text = cmp.Or(text, os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"))
	if text == "" {
		text = "https://s3." + region + ".amazonaws.com"
		if strings.HasPrefix(region, "cn-") {
			text += ".cn"
		}
	}
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.RawQuery != "" || strings.Trim(u.Path, "/") != "" ||
		(u.Scheme != "https" && u.Scheme != "http") {
		return nil, errors.New("bucket: endpoint is not an address")
	}
	if plain {
		u.Scheme = "http"
	}
	return u, nil
}

// s3Credentials looks for credentials where AWS's own tools do: environment, files, and, only if the address asks for
// it, the metadata of the machine or container. A service without a role must not ask for one.
func s3Credentials(profile string, metadata bool) *credentials.Credentials {
	found := []credentials.Provider{&credentials.FileAWSCredentials{Profile: profile}}
	if profile == "" {
		found = slices.Insert(found, 0, credentials.Provider(&credentials.EnvAWS{}))
	}
	if metadata {
		found = append(found, &credentials.IAM{Client: &http.Client{Timeout: 10 * time.Second}})
	}
	return credentials.NewChainCredentials(found)
}

// errCredentials names every place where credentials were looked for.
var errCredentials = errors.New(
	"bucket: there are no credentials in the environment or in ~/.aws, and the metadata of the machine is asked only " +
		"with metadata=true",
)

// checkCredentials returns an error when there are no credentials: the library would send anonymous requests, and the
// server's refusal would not say why.
func (b *s3) checkCredentials() error {
	if b.credentials == nil {
		return nil
	}
	found, err := b.credentials.GetWithContext(
		&credentials.CredContext{Client: &http.Client{Timeout: 10 * time.Second}},
	)
	if err != nil {
		return fmt.Errorf("bucket: credentials: %w", err)
	}
	if found.SignerType.IsAnonymous() {
		return errCredentials
	}
	return nil
}

// translateError names an object or a bucket that is not there, and leaves the parameters of the address out of errors.
func (b *s3) translateError(err error) error {
	var asked *url.Error
	switch refused := minio.ToErrorResponse(err); {
	case err == nil:
		return nil
	case refused.Code == minio.NoSuchKey:
		return fmt.Errorf("%w: %s", ErrMissing, refused.Code)
	case refused.Code == minio.NoSuchBucket:
		endpoint := b.client.EndpointURL()
		return fmt.Errorf(
			"%w: %s at %s: correct the name, or make it, such as with 'aws s3 mb s3://%s --region %s "+
				"--endpoint-url %s'",
			ErrNoBucket,
			b.name,
			endpoint,
			b.name,
			b.region,
			endpoint,
		)
	case errors.As(err, &asked):
		return fmt.Errorf("bucket: %w", asked.Err)
	default:
		return fmt.Errorf("bucket: %w", err)
	}
}

// List returns the objects whose key begins with prefix, by key. Markers of folders are left out.
func (b *s3) List(ctx context.Context, prefix string) ([]Object, error) {
	if err := b.checkCredentials(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the list where an error leaves the loop
	var objects []Object
	for o := range b.client.Client.ListObjects(ctx, b.name, minio.ListObjectsOptions{Prefix: prefix, Recursive: true}) {
		if o.Err != nil {
			return nil, b.translateError(o.Err)
		}
		if !strings.HasSuffix(o.Key, "/") { // a marker that stands for a folder
			objects = append(objects, Object{Key: o.Key, Size: o.Size, Modified: o.LastModified})
		}
	}
	slices.SortFunc(objects, func(a, b Object) int { return strings.Compare(a.Key, b.Key) })
	return objects, nil
}

func (b *s3) Read(ctx context.Context, key string, from int64) (io.ReadCloser, error) {
	if err := b.checkCredentials(); err != nil {
		return nil, err
	}
	var options minio.GetObjectOptions
	if from > 0 {
		if err := options.SetRange(from, 0); err != nil {
			return nil, err
		}
	}
	body, _, header, err := b.client.GetObject(ctx, b.name, key, options)
	if err != nil {
		return nil, b.translateError(err)
	}
	if from > 0 && header.Get("Content-Range") == "" {
		return nil, errors.Join(errors.New("bucket: the server cannot read from an offset"), body.Close())
	}
	return body, nil
}

// Delete removes the object; one that does not exist is no error.
func (b *s3) Delete(ctx context.Context, key string) error {
	if err := b.checkCredentials(); err != nil {
		return err
	}
	if err := b.translateError(
		b.client.Client.RemoveObject(ctx, b.name, key, minio.RemoveObjectOptions{}),
	); err != nil &&
		!errors.Is(err, ErrMissing) {
		return err
	}
	return nil
}

// s3Part is how much of a large file is sent at a time. What was sent of an upload that fails is given up.
const s3Part = 64 << 20

func (b *s3) Write(ctx context.Context, key string, from *os.File) error {
	if err := b.checkCredentials(); err != nil {
		return err
	}
	info, err := from.Stat()
	if err != nil {
		return err
	}
	_, err = b.client.Client.PutObject(ctx, b.name, key, io.NewSectionReader(from, 0, info.Size()), info.Size(),
		minio.PutObjectOptions{PartSize: s3Part, NumThreads: 1, ContentType: "application/octet-stream"})
	return b.translateError(err)
}
