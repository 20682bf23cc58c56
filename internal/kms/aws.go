package kms

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"
)

const awsScheme = "aws-kms://"

// awsKey is a key of AWS KMS.
type awsKey struct {
	o                 Options
	arn, region, host string
}

func (c *Client) awsKey(uri string) (*awsKey, error) {
	arn := strings.TrimPrefix(uri, awsScheme)
	parts := strings.SplitN(arn, ":", 6) // arn:aws:kms:REGION:ACCOUNT:key/ID
	if len(parts) != 6 || parts[0] != "arn" || parts[2] != "kms" || parts[3] == "" || strings.ContainsAny(parts[3], "/.@?#") {
		return nil, errors.New("kms: expected aws-kms://arn:aws:kms:REGION:ACCOUNT:key/ID")
	}
	address := "https://kms." + parts[3] + ".amazonaws.com"
	if own := c.o.Env("AWS_ENDPOINT_URL_KMS"); own != "" { // AWS's own variable: a private endpoint
		address = own
	}
	u, err := endpoint(address)
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

func (k *awsKey) call(operation string, in awsBody, associated []byte) (out awsBody, err error) {
	id, secret := k.o.Env("AWS_ACCESS_KEY_ID"), k.o.Env("AWS_SECRET_ACCESS_KEY")
	if id == "" || secret == "" {
		return out, errors.New("kms: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_SESSION_TOKEN if they are of a session")
	}
	in.KeyID = k.arn
	if len(associated) > 0 {
		in.Context = map[string]string{"vigia": base64.StdEncoding.EncodeToString(associated)}
	}
	body, err := json.Marshal(in)
	if err != nil {
		return out, err
	}
	req, err := http.NewRequest(http.MethodPost, k.host+"/", nil) //nolint:noctx // exchange gives it one
	if err != nil {
		return out, errors.New("kms: the address of the service cannot be read")
	}
	req.Header.Set("Content-Type", "application/x-amz-json-1.1")
	req.Header.Set("X-Amz-Target", "TrentService."+operation)
	if session := k.o.Env("AWS_SESSION_TOKEN"); session != "" {
		req.Header.Set("X-Amz-Security-Token", session)
	}
	signV4(req, body, "kms", k.region, id, secret, k.o.Now())
	err = k.o.exchange(req, body, &out)
	return out, err
}

// Encrypt implements tink.AEAD.
func (k *awsKey) Encrypt(plain, associated []byte) ([]byte, error) {
	out, err := k.call("Encrypt", awsBody{Plaintext: plain}, associated)
	if err == nil && len(out.Ciphertext) == 0 {
		err = errors.New("kms: the answer holds no ciphertext")
	}
	return out.Ciphertext, err
}

// Decrypt implements tink.AEAD.
func (k *awsKey) Decrypt(sealed, associated []byte) ([]byte, error) {
	out, err := k.call("Decrypt", awsBody{Ciphertext: sealed}, associated)
	if err == nil && len(out.Plaintext) == 0 {
		err = errors.New("kms: the answer holds no plaintext")
	}
	return out.Plaintext, err
}

// signV4 signs a request without a query by AWS's Signature Version 4, with all headers that it has.
func signV4(req *http.Request, body []byte, service, region, id, secret string, now time.Time) {
	now = now.UTC()
	stamp, day := now.Format("20060102T150405Z"), now.Format("20060102")
	req.Header.Set("X-Amz-Date", stamp)
	headers := map[string]string{"host": req.URL.Host}
	for name, values := range req.Header {
		headers[strings.ToLower(name)] = strings.TrimSpace(strings.Join(values, ","))
	}
	names := make([]string, 0, len(headers))
	for name := range headers {
		names = append(names, name)
	}
	slices.Sort(names)
	var canonical strings.Builder
	canonical.WriteString(req.Method + "\n" + req.URL.EscapedPath() + "\n\n")
	for _, name := range names {
		canonical.WriteString(name + ":" + headers[name] + "\n")
	}
	signed := strings.Join(names, ";")
	canonical.WriteString("\n" + signed + "\n" + hexDigest(body))
	scope := day + "/" + region + "/" + service + "/aws4_request"
	text := "AWS4-HMAC-SHA256\n" + stamp + "\n" + scope + "\n" + hexDigest([]byte(canonical.String()))
	key := []byte("AWS4" + secret)
	for _, part := range []string{day, region, service, "aws4_request", text} {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(part))
		key = h.Sum(nil)
	}
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+id+"/"+scope+", SignedHeaders="+signed+", Signature="+hex.EncodeToString(key))
}

func hexDigest(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}
