package bucket

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

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
	err := b.client.Client.RemoveObject(ctx, b.name, key, minio.RemoveObjectOptions{})
	if err = b.translateError(err); err != nil && !errors.Is(err, ErrMissing) {
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
