package seal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/tink-crypto/tink-go/v2/tink"
)

// Key management services are asked over their own HTTP interfaces: AWS KMS, and the transit engine of HashiCorp Vault
// and what is compatible with it (OpenBao). Each is a root: it wraps one short secret, the key of the ring, which is
// opened at a start and after a change of roots. The client is one for tink's registry and knows nothing of the ring.
// It never logs and puts no secret in an error; what it sends it sends over TLS, or to this machine.

// KMSOptions are what a client needs of the world.
type KMSOptions struct {
	// HTTP makes the calls. Its guard decides what may be dialled.
	HTTP *http.Client
	// Env reads a variable of the environment.
	Env func(name string) string
}

// timeout bounds one exchange; tink hands no context on.
const timeout = 15 * time.Second

// maxAnswer bounds what is read of an answer.
const maxAnswer = 64 << 10

// KMSClient finds keys of the services by URI: aws-kms://ARN, hcvault://HOST:PORT/MOUNT/keys/NAME. It is a KMSClient of
// tink's registry.
type KMSClient struct{ o KMSOptions }

func NewKMSClient(o KMSOptions) *KMSClient { return &KMSClient{o} }

// Supported reports whether a URI is of one of the services.
func (c *KMSClient) Supported(uri string) bool { return IsKnownURI(uri) }

// IsKnownURI reports whether a URI is of one of the services.
func IsKnownURI(uri string) bool {
	return strings.HasPrefix(uri, awsScheme) || strings.HasPrefix(uri, vaultScheme)
}

// GetAEAD returns the key that the URI names; it is not asked for yet.
func (c *KMSClient) GetAEAD(uri string) (tink.AEAD, error) {
	if strings.HasPrefix(uri, awsScheme) {
		return c.newAWSKey(uri)
	}
	return c.newVaultKey(uri)
}

// parseEndpoint takes the address of a service: over TLS, or on this machine.
func parseEndpoint(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil {
		return nil, errors.New("kms: the address of the service cannot be read")
	}
	local, err := netip.ParseAddr(u.Hostname())
	if u.Scheme != "https" && (u.Scheme != "http" || err != nil || !local.IsLoopback()) {
		return nil, errors.New("kms: the service must be asked over https")
	}
	return u, nil
}

// exchangeJSON posts in as JSON, once authorize has added what the service asks for, and decodes the answer. What a
// refusal says is not repeated but for its status and, where there is one, the name of the error.
func (o KMSOptions) exchangeJSON(
	address string, in, into any, authorize func(req *http.Request, body []byte) *http.Request,
) error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, nil)
	if err != nil {
		return errors.New("kms: the address of the service cannot be read")
	}
	req = authorize(req, body)
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	res, err := o.HTTP.Do(req)
	if err != nil {
		var at *url.Error
		if errors.As(err, &at) {
			err = at.Err
		}
		return fmt.Errorf("kms: ask %s: %w", req.URL.Host, err)
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("kms: read the answer of %s: %w", req.URL.Host, err)
	}
	if res.StatusCode != http.StatusOK {
		var refusal struct {
			Type string `json:"__type"`
		}
		_ = json.Unmarshal(raw, &refusal) // most refusals have none
		return fmt.Errorf("kms: %s refuses: %d %s", req.URL.Host, res.StatusCode, refusal.Type)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("kms: the answer of %s is not what the service answers", req.URL.Host)
	}
	return nil
}
