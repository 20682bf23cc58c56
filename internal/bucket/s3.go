package bucket

import (
	"cmp"
	"context"
	"encoding/xml"
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

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// s3 is a bucket of S3, or of a service that speaks like it.
type s3 struct {
	base        url.URL // of the bucket
	region      string
	credentials *credentials.Credentials
	client      *http.Client
}

// noRedirect stays where the address says: a request is signed for one host, and its token is nobody else's business.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// s3Client is shared, so that buckets which are opened anew for each object use the connections of those before.
var s3Client = func() *http.Client {
	transport, _ := http.DefaultTransport.(*http.Transport)
	transport = transport.Clone()
	transport.ResponseHeaderTimeout = time.Minute
	transport.DisableCompression = true // an object is what was stored, not what it unpacks to
	return &http.Client{Transport: transport, CheckRedirect: noRedirect}
}()

// openS3 reads the parameters region, endpoint, use_path_style, disable_https, profile, anonymous and metadata. What they
// leave open comes from the environment variables that every tool for S3 reads.
func openS3(name, path string, query url.Values, client *http.Client) (Bucket, error) {
	if name == "" || path != "" {
		return nil, errors.New("bucket: expected s3://bucket, and nothing but parameters behind it")
	}
	for key := range query {
		if !slices.Contains([]string{"region", "endpoint", "use_path_style", "disable_https", "profile", "anonymous", "metadata"}, key) {
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
	b := &s3{client: s3Client, region: cmp.Or(query.Get("region"), os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"))}
	if client != nil {
		guarded := *client
		guarded.CheckRedirect = noRedirect
		b.client = &guarded
	}
	if b.region == "" {
		return nil, errors.New("bucket: s3://bucket?region=... or AWS_REGION has to say where the bucket is")
	}
	endpoint, err := s3Endpoint(query.Get("endpoint"), b.region, flags[1])
	if err != nil {
		return nil, err
	}
	b.base = *endpoint
	// A certificate covers one label before the endpoint's name, so a bucket with a dot in its name stands in the path
	// too.
	if flags[0] || (strings.Contains(name, ".") && b.base.Scheme == "https") {
		b.base.Path += "/" + name
	} else {
		b.base.Host = name + "." + b.base.Host
	}
	if !flags[2] {
		b.credentials = s3Credentials(query.Get("profile"), flags[3])
	}
	return b, nil
}

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
	if err != nil || u.Host == "" || u.RawQuery != "" || (u.Scheme != "https" && u.Scheme != "http") {
		return nil, errors.New("bucket: endpoint is not an address")
	}
	if plain {
		u.Scheme = "http"
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	return u, nil
}

// s3Credentials looks for them where AWS's own tools do: environment, files, and, only if the address asks for it, the
// metadata of the machine or container. A service that nobody gave a role must not ask for one.
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

func (b *s3) List(ctx context.Context, prefix string) ([]Object, error) {
	query := url.Values{"list-type": {"2"}, "prefix": {prefix}, "encoding-type": {"url"}}
	var objects []Object
	for {
		var page struct {
			EncodingType          string
			IsTruncated           bool
			NextContinuationToken string
			Contents              []struct {
				Key          string
				Size         int64
				LastModified time.Time
			}
		}
		if err := b.ask(ctx, request{method: http.MethodGet, query: query}, &page); err != nil {
			return nil, err
		}
		for _, o := range page.Contents {
			if page.EncodingType == "url" { // XML has no way to write some characters that a name may have
				var err error
				if o.Key, err = url.QueryUnescape(o.Key); err != nil {
					return nil, errors.New("bucket: a list with a name that cannot be read")
				}
			}
			if !strings.HasSuffix(o.Key, "/") { // a marker that stands for a folder
				objects = append(objects, Object{Key: o.Key, Size: o.Size, Modified: o.LastModified})
			}
		}
		if !page.IsTruncated || page.NextContinuationToken == "" {
			slices.SortFunc(objects, func(a, b Object) int { return strings.Compare(a.Key, b.Key) })
			return objects, nil
		}
		query.Set("continuation-token", page.NextContinuationToken)
	}
}

func (b *s3) Read(ctx context.Context, key string, from int64) (io.ReadCloser, error) {
	r := request{method: http.MethodGet, key: key}
	if from > 0 {
		r.header = http.Header{"Range": {fmt.Sprintf("bytes=%d-", from)}}
	}
	res, err := b.send(ctx, r)
	if err != nil {
		return nil, err
	}
	if from > 0 && res.StatusCode != http.StatusPartialContent {
		return nil, errors.Join(errors.New("bucket: the server cannot read from an offset"), res.Body.Close())
	}
	return res.Body, nil
}

func (b *s3) Delete(ctx context.Context, key string) error {
	if err := b.ask(ctx, request{method: http.MethodDelete, key: key}, nil); err != nil && !errors.Is(err, ErrMissing) {
		return err
	}
	return nil
}

// The sizes of S3: an object in one request is at most 5 GiB, one in parts at most 10,000 of them.
const (
	s3Part     = 64 << 20
	s3MostPart = 10_000
)

// Write sends a small file in one request and a large one in parts, which become an object when the last request is
// answered.
func (b *s3) Write(ctx context.Context, key string, from *os.File) error {
	info, err := from.Stat()
	if err != nil {
		return err
	}
	size, part := info.Size(), b.partSize(info.Size())
	if size <= part {
		return b.ask(ctx, request{method: http.MethodPut, key: key, body: io.NewSectionReader(from, 0, size)}, nil)
	}
	var upload struct{ UploadId string } // the name in the answer
	if err := b.ask(ctx, request{method: http.MethodPost, key: key, query: url.Values{"uploads": {""}}}, &upload); err != nil {
		return err
	}
	if upload.UploadId == "" {
		return errors.New("bucket: an upload without an id")
	}
	id := url.Values{"uploadId": {upload.UploadId}}
	if err := b.writeParts(ctx, key, id, from, size, part); err != nil {
		// What arrived is given up, also when it is the context that ended.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		return errors.Join(err, b.ask(ctx, request{method: http.MethodDelete, key: key, query: id}, nil))
	}
	return nil
}

func (b *s3) partSize(size int64) int64 { return max(s3Part, (size+s3MostPart-1)/s3MostPart) }

func (b *s3) writeParts(ctx context.Context, key string, id url.Values, from *os.File, size, part int64) error {
	type done struct {
		PartNumber int
		ETag       string
	}
	whole := struct {
		XMLName xml.Name `xml:"CompleteMultipartUpload"`
		Part    []done
	}{}
	for n, at := 1, int64(0); at < size; n, at = n+1, at+part {
		query := url.Values{"partNumber": {strconv.Itoa(n)}, "uploadId": id["uploadId"]}
		body := io.NewSectionReader(from, at, min(part, size-at))
		res, err := b.send(ctx, request{method: http.MethodPut, key: key, query: query, body: body})
		if err != nil {
			return err
		}
		_ = res.Body.Close() // empty
		whole.Part = append(whole.Part, done{n, res.Header.Get("ETag")})
	}
	text, err := xml.Marshal(whole)
	if err != nil {
		return err
	}
	body := io.NewSectionReader(strings.NewReader(string(text)), 0, int64(len(text)))
	// This request may fail in the body of an answer that says 200, as joining the parts takes a while.
	var answer struct{ XMLName xml.Name }
	if err := b.ask(ctx, request{method: http.MethodPost, key: key, query: id, body: body}, &answer); err != nil {
		return err
	}
	if answer.XMLName.Local != "CompleteMultipartUploadResult" {
		return fmt.Errorf("bucket: the parts were not joined: %s", answer.XMLName.Local)
	}
	return nil
}
