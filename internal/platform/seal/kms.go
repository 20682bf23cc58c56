package seal

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/signer"
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
	address string,
	in, into any,
	authorize func(req *http.Request, body []byte) *http.Request,
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

// awsScheme begins the address of a key of AWS KMS, followed by its ARN.
const awsScheme = "aws-kms://"

// awsKey is a key of AWS KMS.
type awsKey struct {
	o                 KMSOptions
	arn, region, host string
}

// newAWSKey returns the key of AWS KMS that a URI names.
func (c *KMSClient) newAWSKey(uri string) (*awsKey, error) {
	arn := strings.TrimPrefix(uri, awsScheme)
	parts := strings.SplitN(arn, ":", 6) // arn:aws:kms:REGION:ACCOUNT:key/ID
	if len(parts) != 6 || parts[0] != "arn" || parts[2] != "kms" || parts[3] == "" ||
		strings.ContainsAny(parts[3], "/.@?#") {
		return nil, errors.New("kms: expected aws-kms://arn:aws:kms:REGION:ACCOUNT:key/ID")
	}
	// AWS's own variable names a private endpoint.
	u, err := parseEndpoint(cmp.Or(c.o.Env("AWS_ENDPOINT_URL_KMS"), "https://kms."+parts[3]+".amazonaws.com"))
	if err != nil {
		return nil, err
	}
	return &awsKey{c.o, arn, parts[3], u.Scheme + "://" + u.Host}, nil
}

// awsBody is what both operations send and answer with.
type awsBody struct {
	KeyID      string            `json:"KeyId,omitempty"`
	Plaintext  []byte            `json:"Plaintext,omitempty"`
	Ciphertext []byte            `json:"CiphertextBlob,omitempty"`
	Context    map[string]string `json:"EncryptionContext,omitempty"`
}

// callOperation asks for one operation of the service.
func (k *awsKey) callOperation(operation string, in awsBody, associated []byte) (out awsBody, err error) {
	found, err := k.o.findCredentials()
	if err != nil {
		return out, err
	}
	in.KeyID = k.arn
	if len(associated) > 0 {
		in.Context = map[string]string{"vigia": base64.StdEncoding.EncodeToString(associated)}
	}
	err = k.o.exchangeJSON(k.host+"/", in, &out, func(req *http.Request, body []byte) *http.Request {
		sum := sha256.Sum256(body)
		req.Header.Set("Content-Type", "application/x-amz-json-1.1")
		req.Header.Set("X-Amz-Target", "TrentService."+operation)
		req.Header.Set("X-Amz-Content-Sha256", hex.EncodeToString(sum[:]))
		return signer.SignV4WithServiceType(
			*req,
			found.AccessKeyID,
			found.SecretAccessKey,
			found.SessionToken,
			k.region,
			"kms",
		)
	})
	return out, err
}

// findCredentials looks where AWS's own tools do: the environment, ~/.aws, and the role of the machine or container.
func (o KMSOptions) findCredentials() (credentials.Value, error) {
	if id := o.Env("AWS_ACCESS_KEY_ID"); id != "" {
		return credentials.Value{
			AccessKeyID:     id,
			SecretAccessKey: o.Env("AWS_SECRET_ACCESS_KEY"),
			SessionToken:    o.Env("AWS_SESSION_TOKEN"),
		}, nil
	}
	client := &http.Client{Timeout: 10 * time.Second}
	providers := []credentials.Provider{&credentials.FileAWSCredentials{}}
	if o.Env("AWS_EC2_METADATA_DISABLED") != "true" {
		providers = append(providers, &credentials.IAM{Client: client})
	}
	found, err := credentials.NewChainCredentials(providers).GetWithContext(&credentials.CredContext{Client: client})
	if err != nil || found.AccessKeyID == "" {
		return found, errors.New(
			"kms: there are no credentials in the environment (AWS_ACCESS_KEY_ID), in ~/.aws, or in a role of this " +
				"machine",
		)
	}
	return found, nil
}

// Encrypt implements tink.AEAD.
func (k *awsKey) Encrypt(plain, associated []byte) ([]byte, error) {
	out, err := k.callOperation("Encrypt", awsBody{Plaintext: plain}, associated)
	if err == nil && len(out.Ciphertext) == 0 {
		err = errors.New("kms: the answer holds no ciphertext")
	}
	return out.Ciphertext, err
}

// Decrypt implements tink.AEAD.
func (k *awsKey) Decrypt(sealed, associated []byte) ([]byte, error) {
	out, err := k.callOperation("Decrypt", awsBody{Ciphertext: sealed}, associated)
	if err == nil && len(out.Plaintext) == 0 {
		err = errors.New("kms: the answer holds no plaintext")
	}
	return out.Plaintext, err
}

// vaultScheme begins the address of a transit key of HashiCorp Vault.
const vaultScheme = "hcvault://"

// vaultKey is a key of a transit engine.
type vaultKey struct {
	o                     KMSOptions
	address, mount, named string
}

// newVaultKey returns the key of Vault's transit engine that a URI names.
func (c *KMSClient) newVaultKey(uri string) (*vaultKey, error) {
	host, path, _ := strings.Cut(strings.TrimPrefix(uri, vaultScheme), "/")
	mount, name, ok := strings.Cut(path, "/keys/")
	if host == "" || mount == "" || !ok || name == "" || strings.ContainsAny(path, "?#%\\ ") ||
		strings.Contains(path, "..") {
		return nil, errors.New("kms: expected hcvault://HOST:PORT/MOUNT/keys/NAME")
	}
	address := "https://" + host
	if plain := c.o.Env("VAULT_ADDR"); plain == "http://"+host { // a development server on this machine
		address = plain
	}
	if _, err := parseEndpoint(address); err != nil {
		return nil, err
	}
	return &vaultKey{c.o, address, mount, name}, nil
}

// readToken is read at each call, because an agent renews the file.
func (k *vaultKey) readToken() (string, error) {
	if token := k.o.Env("VAULT_TOKEN"); token != "" {
		return token, nil
	}
	file := k.o.Env("VAULT_TOKEN_FILE")
	if file == "" {
		return "", errors.New("kms: set VAULT_TOKEN, or VAULT_TOKEN_FILE to a file that holds it")
	}
	raw, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		return "", fmt.Errorf("kms: VAULT_TOKEN_FILE: %w", err)
	}
	return strings.TrimSpace(string(raw)), nil
}

// vaultBody is the body of requests and answers of Vault's transit engine; bytes are base64 in JSON.
type vaultBody struct {
	Plaintext  []byte `json:"plaintext,omitempty"`
	Ciphertext string `json:"ciphertext,omitempty"`
	Associated []byte `json:"associated_data,omitempty"`
}

// callOperation asks for one operation of the engine.
func (k *vaultKey) callOperation(operation string, in vaultBody) (out vaultBody, err error) {
	token, err := k.readToken()
	if err != nil {
		return out, err
	}
	var answer struct {
		Data vaultBody `json:"data"`
	}
	address := k.address + "/v1/" + k.mount + "/" + operation + "/" + k.named
	err = k.o.exchangeJSON(address, in, &answer, func(req *http.Request, _ []byte) *http.Request {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-Vault-Token", token)
		req.Header.Set("X-Vault-Request", "true")
		if space := k.o.Env("VAULT_NAMESPACE"); space != "" {
			req.Header.Set("X-Vault-Namespace", space)
		}
		return req
	})
	return answer.Data, err
}

// Encrypt implements tink.AEAD.
func (k *vaultKey) Encrypt(plain, associated []byte) ([]byte, error) {
	out, err := k.callOperation("encrypt", vaultBody{Plaintext: plain, Associated: associated})
	if err == nil && out.Ciphertext == "" {
		err = errors.New("kms: the answer holds no ciphertext")
	}
	return []byte(out.Ciphertext), err
}

// Decrypt implements tink.AEAD.
func (k *vaultKey) Decrypt(sealed, associated []byte) ([]byte, error) {
	out, err := k.callOperation("decrypt", vaultBody{Ciphertext: string(sealed), Associated: associated})
	if err == nil && len(out.Plaintext) == 0 {
		err = errors.New("kms: the answer holds no plaintext")
	}
	return out.Plaintext, err
}
