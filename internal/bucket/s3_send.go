package bucket

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"
	"github.com/minio/minio-go/v7/pkg/signer"
)

// request is one request to S3, which may have to be sent more than once.
type request struct {
	method, key string
	query       url.Values
	header      http.Header
	body        *io.SectionReader // nil: none
}

const (
	s3Tries = 4
	s3Pause = 200 * time.Millisecond // before the second try; doubled after each
	s3Most  = 64 << 20               // bytes of an answer that is read as a whole: a list of a thousand names has less than one
)

// ask sends a request and reads the answer into into, or throws it away where into is nil.
func (b *s3) ask(ctx context.Context, r request, into any) error {
	res, err := b.send(ctx, r)
	if err != nil {
		return err
	}
	body := io.LimitReader(res.Body, s3Most)
	if into == nil {
		_, err = io.Copy(io.Discard, body)
	} else if err = xml.NewDecoder(body).Decode(into); err != nil {
		err = fmt.Errorf("bucket: an answer that cannot be read: %w", err)
	}
	return errors.Join(err, res.Body.Close())
}

// send sends a request until it is answered with success, or with a refusal that the next try would meet too.
func (b *s3) send(ctx context.Context, r request) (*http.Response, error) {
	sum, err := bodySum(r.body)
	if err != nil {
		return nil, err
	}
	for try, pause := 1, s3Pause; ; try, pause = try+1, 2*pause {
		res, err := b.sendOnce(ctx, r, sum)
		if err == nil && res.StatusCode < 300 {
			return res, nil
		}
		again := err != nil && !errors.Is(err, errCredentials)
		if err == nil {
			again = res.StatusCode >= 500 || res.StatusCode == http.StatusTooManyRequests || res.StatusCode == http.StatusRequestTimeout
			err = refusal(r.method, res)
		}
		if !again || try == s3Tries || ctx.Err() != nil {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(err, ctx.Err())
		case <-time.After(pause/2 + rand.N(pause/2)): //nolint:gosec // spreads tries, hides nothing
		}
	}
}

func (b *s3) sendOnce(ctx context.Context, r request, sum string) (*http.Response, error) {
	u := b.base
	u.Path += "/" + r.key
	u.RawPath = s3utils.EncodePath(u.Path) // what is signed is this form, which escapes more than Go does
	u.RawQuery = s3utils.QueryEncode(r.query)
	req, err := http.NewRequestWithContext(ctx, r.method, u.String(), nil)
	if err != nil {
		return nil, errors.New("bucket: not an address")
	}
	for name, values := range r.header {
		req.Header[name] = values
	}
	if r.body != nil {
		req.Body, req.ContentLength = io.NopCloser(io.NewSectionReader(r.body, 0, r.body.Size())), r.body.Size()
		if req.ContentLength == 0 {
			req.Body = http.NoBody
		}
	}
	if req, err = b.sign(ctx, req, sum); err != nil {
		return nil, err
	}
	res, err := b.client.Do(req)
	if err != nil {
		var ours *url.Error
		if errors.As(err, &ours) {
			err = ours.Err // without the address, which people need not see
		}
		return nil, fmt.Errorf("bucket: %s: %w", r.method, err)
	}
	return res, nil
}

var errCredentials = errors.New("bucket: there are no credentials in the environment or in ~/.aws, and the metadata of the machine is asked only with metadata=true")

func (b *s3) sign(ctx context.Context, req *http.Request, sum string) (*http.Request, error) {
	if b.credentials == nil {
		return req, nil
	}
	found, err := b.credentials.GetWithContext(&credentials.CredContext{Client: &http.Client{Timeout: 10 * time.Second}, Context: ctx})
	if err != nil {
		return nil, fmt.Errorf("bucket: credentials: %w", err)
	}
	if found.SignerType.IsAnonymous() {
		return nil, errCredentials
	}
	req.Header.Set("X-Amz-Content-Sha256", sum)
	return signer.SignV4(*req, found.AccessKeyID, found.SecretAccessKey, found.SessionToken, b.region), nil
}

// bodySum lets the server refuse what changed on its way.
func bodySum(body *io.SectionReader) (string, error) {
	hash := sha256.New()
	if body != nil {
		if _, err := io.Copy(hash, io.NewSectionReader(body, 0, body.Size())); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// refusal reads what the server says, which names no secret.
func refusal(method string, res *http.Response) error {
	var said struct{ Code, Message string }
	_ = xml.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&said) // there may be none: the status says enough
	_ = res.Body.Close()                                              // nothing more is read
	if res.StatusCode == http.StatusNotFound && said.Code != "NoSuchBucket" {
		return fmt.Errorf("%w: %s", ErrMissing, said.Code)
	}
	return fmt.Errorf("bucket: %s answered %d %s %s", method, res.StatusCode, said.Code, said.Message)
}
