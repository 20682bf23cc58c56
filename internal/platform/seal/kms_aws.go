package seal

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/signer"
)

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
