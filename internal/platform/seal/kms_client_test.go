package seal

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tink-crypto/tink-go/v2/core/registry"
)

// standIn is a service that speaks the protocol: it holds one key, and checks whoever asks.
type standIn struct {
	t     *testing.T
	key   cipher.AEAD
	asked []string
	serve func(w http.ResponseWriter, r *http.Request, body []byte)
}

func newStandIn(t *testing.T) *standIn {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw)
	block, err := aes.NewCipher(raw)
	if err != nil {
		t.Fatal(err)
	}
	s := &standIn{t: t}
	if s.key, err = cipher.NewGCM(block); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Error(err)
	}
	s.serve(w, r, body)
}

func (s *standIn) seal(plain []byte, context string) []byte {
	nonce := make([]byte, s.key.NonceSize())
	_, _ = rand.Read(nonce)
	return s.key.Seal(nonce, nonce, plain, []byte(context))
}

func (s *standIn) open(sealed []byte, context string) ([]byte, error) {
	if len(sealed) < s.key.NonceSize() {
		return nil, io.ErrUnexpectedEOF
	}
	return s.key.Open(nil, sealed[:s.key.NonceSize()], sealed[s.key.NonceSize():], []byte(context))
}

const (
	standInARN    = "arn:aws:kms:sa-east-1:111122223333:key/11111111-2222-3333-4444-555555555555"
	standInID     = "AKIDEXAMPLE"
	standInSecret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" // of AWS's published examples
)

var authorization = regexp.MustCompile(
	`^AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/([^/]+)/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$`,
)

// signedRightly reads a signature as AWS does, from the request as it came in.
func signedRightly(r *http.Request, body []byte, secret string) bool {
	m := authorization.FindStringSubmatch(r.Header.Get("Authorization"))
	if m == nil || m[1] != standInID || m[3] != "sa-east-1" || m[4] != "kms" ||
		!strings.HasPrefix(r.Header.Get("X-Amz-Date"), m[2]) {
		return false
	}
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil || time.Since(at).Abs() > 5*time.Minute {
		return false
	}
	covered := ";" + m[5] + ";"
	for _, must := range []string{"host", "x-amz-date", "x-amz-target", "content-type"} {
		if !strings.Contains(covered, ";"+must+";") {
			return false
		}
	}
	lines := []string{r.Method, r.URL.Path, r.URL.RawQuery}
	for _, name := range strings.Split(m[5], ";") {
		value := r.Header.Get(name)
		if name == "host" {
			value = r.Host
		}
		lines = append(lines, name+":"+value)
	}
	digest := sha256.Sum256(body)
	lines = append(lines, "", m[5], hex.EncodeToString(digest[:]))
	digest = sha256.Sum256([]byte(strings.Join(lines, "\n")))
	mac := func(key []byte, text string) []byte {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(text))
		return h.Sum(nil)
	}
	scope := m[2] + "/" + m[3] + "/" + m[4] + "/aws4_request"
	key := mac(mac(mac(mac([]byte("AWS4"+secret), m[2]), m[3]), m[4]), "aws4_request")
	want := mac(key, "AWS4-HMAC-SHA256\n"+r.Header.Get("X-Amz-Date")+"\n"+scope+"\n"+hex.EncodeToString(digest[:]))
	return hex.EncodeToString(want) == m[6]
}

// aws stands in for AWS KMS.
func aws(s *standIn) {
	s.serve = func(w http.ResponseWriter, r *http.Request, body []byte) {
		refuse := func(status int, kind string) {
			w.WriteHeader(status)
			_, _ = fmt.Fprintf(w, `{"__type":%q,"message":"no"}`, kind)
		}
		target := r.Header.Get("X-Amz-Target")
		s.asked = append(s.asked, target)
		if r.Method != http.MethodPost || r.URL.Path != "/" ||
			r.Header.Get("Content-Type") != "application/x-amz-json-1.1" {
			refuse(http.StatusNotFound, "UnknownOperationException")
			return
		}
		if !signedRightly(r, body, standInSecret) {
			refuse(http.StatusBadRequest, "InvalidSignatureException")
			return
		}
		var in struct {
			KeyId             string // AWS's name
			Plaintext         []byte
			CiphertextBlob    []byte
			EncryptionContext map[string]string
		}
		if err := json.Unmarshal(body, &in); err != nil || in.KeyId != standInARN {
			refuse(http.StatusBadRequest, "NotFoundException")
			return
		}
		context := fmt.Sprint(in.EncryptionContext)
		switch target {
		case "TrentService.Encrypt":
			if len(in.Plaintext) == 0 || len(in.Plaintext) > 4096 {
				refuse(http.StatusBadRequest, "ValidationException")
				return
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"KeyId": standInARN, "CiphertextBlob": s.seal(in.Plaintext, context)})
		case "TrentService.Decrypt":
			plain, err := s.open(in.CiphertextBlob, context)
			if err != nil {
				refuse(http.StatusBadRequest, "InvalidCiphertextException")
				return
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"KeyId": standInARN, "Plaintext": plain})
		default:
			refuse(http.StatusBadRequest, "UnknownOperationException")
		}
	}
}

// vault stands in for a transit engine at transit, with the key vigia.
func vault(s *standIn) {
	s.serve = func(w http.ResponseWriter, r *http.Request, body []byte) {
		s.asked = append(s.asked, r.URL.Path)
		if r.Header.Get("X-Vault-Token") != "hvs.standin" || r.Header.Get("X-Vault-Namespace") != "casa" {
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`{"errors":["permission denied"]}`))
			return
		}
		var in struct{ Plaintext, Ciphertext, Associated_Data string } // as it is spelt
		if err := json.Unmarshal(body, &in); err != nil {
			s.t.Error(err)
		}
		answer := func(name, value string) {
			_ = json.NewEncoder(w).Encode(map[string]any{"data": map[string]any{name: value, "key_version": 1}})
		}
		switch r.Method + " " + r.URL.Path {
		case "POST /v1/transit/encrypt/vigia":
			plain, err := base64.StdEncoding.DecodeString(in.Plaintext)
			if err != nil {
				s.t.Error(err)
			}
			answer("ciphertext", "vault:v1:"+base64.StdEncoding.EncodeToString(s.seal(plain, in.Associated_Data)))
		case "POST /v1/transit/decrypt/vigia":
			raw, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(in.Ciphertext, "vault:v1:"))
			plain, err := s.open(raw, in.Associated_Data)
			if err != nil || !strings.HasPrefix(in.Ciphertext, "vault:v1:") {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			answer("plaintext", base64.StdEncoding.EncodeToString(plain))
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}
}

// TestServices: each service, played by a stand-in that speaks its protocol and checks signature or token, wraps and
// opens; with wrong credentials, another context, altered bytes or a service that is away nothing opens, and no error
// holds a secret. A key file that it wraps opens with it alone.
func TestServices(t *testing.T) {
	for name, c := range map[string]struct {
		play  func(*standIn)
		uri   func(address string) string
		env   map[string]string
		wrong map[string]string
	}{
		"aws": {
			aws, func(string) string { return awsScheme + standInARN },
			map[string]string{"AWS_ACCESS_KEY_ID": standInID, "AWS_SECRET_ACCESS_KEY": standInSecret, "AWS_SESSION_TOKEN": "session"},
			map[string]string{"AWS_SECRET_ACCESS_KEY": "wrong-secret"},
		},
		"vault": {
			vault, func(address string) string {
				return vaultScheme + strings.TrimPrefix(address, "https://") + "/transit/keys/vigia"
			},
			map[string]string{"VAULT_TOKEN": "hvs.standin", "VAULT_NAMESPACE": "casa"},
			map[string]string{"VAULT_TOKEN": "wrong-secret"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStandIn(t)
			c.play(s)
			server := httptest.NewTLSServer(s)
			defer server.Close()
			env := func(more map[string]string) func(string) string {
				return func(variable string) string {
					if v, ok := more[variable]; ok {
						return v
					}
					if variable == "AWS_ENDPOINT_URL_KMS" {
						return server.URL
					}
					return c.env[variable]
				}
			}
			good := NewKMSClient(KMSOptions{server.Client(), env(nil)})
			uri := c.uri(server.URL)
			key, err := good.GetAEAD(uri)
			if err != nil || !good.Supported(uri) {
				t.Fatal(err)
			}
			wrapped, err := key.Encrypt([]byte("a data key"), []byte("context"))
			if err != nil {
				t.Fatal(err)
			}
			if plain, err := key.Decrypt(wrapped, []byte("context")); err != nil || string(plain) != "a data key" {
				t.Fatal(string(plain), err)
			}
			refused := func(what string, err error) {
				t.Helper()
				if err == nil || strings.Contains(err.Error(), "wrong-secret") ||
					strings.Contains(err.Error(), standInSecret) ||
					strings.Contains(err.Error(), "hvs.") {
					t.Errorf("%s: %v", what, err)
				}
			}
			_, err = key.Decrypt(wrapped, []byte("another"))
			refused("another context", err)
			altered := bytes.Clone(wrapped)
			if last := &altered[len(altered)-4]; *last == 'A' { // before the padding, where what is wrapped is text
				*last = 'B'
			} else {
				*last = 'A'
			}
			_, err = key.Decrypt(altered, []byte("context"))
			refused("altered", err)
			for what, o := range map[string]KMSOptions{
				"wrong credentials": {server.Client(), env(c.wrong)},
				"none": {server.Client(), func(v string) string {
					return map[string]string{"AWS_ENDPOINT_URL_KMS": server.URL, "AWS_EC2_METADATA_DISABLED": "true"}[v]
				}},
				"unknown issuer": {http.DefaultClient, env(nil)},
			} {
				bad, err := NewKMSClient(o).GetAEAD(uri)
				if err == nil {
					_, err = bad.Decrypt(wrapped, []byte("context"))
				}
				refused(what, err)
			}
			wrapsRing(t, good, uri)
			server.Close()
			_, err = key.Decrypt(wrapped, []byte("context"))
			refused("away", err)
		})
	}
}

// wrapsRing makes and opens a ring whose root is the key.
func wrapsRing(t *testing.T, client *KMSClient, uri string) {
	t.Helper()
	registry.RegisterKMSClient(client)
	defer registry.ClearKMSClients()
	root, err := OpenRoot(uri)
	if err != nil {
		t.Fatal(err)
	}
	w, err := NewRing(root, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	made := open(t, root, &ringStore{ring: w})
	sealed := mustSeal(t, made, home, "value")
	mustRotate(t, made)
	mustUnseal(t, reopen(t, made), home, sealed, "value")
	registry.ClearKMSClients()
	if _, err := OpenRoot(uri); err == nil {
		t.Error("it opens without the service")
	}
}

// TestAddresses: what is no key of a service, or would be asked in the clear, is refused before anything is sent.
func TestAddresses(t *testing.T) {
	for uri, env := range map[string]string{
		"aws-kms://key/1": "", "aws-kms://arn:aws:s3:sa-east-1:1:key/1": "", "aws-kms://arn:aws:kms:a.b/:1:key/1": "",
		"hcvault://host": "", "hcvault://host/transit/keys/": "", "hcvault://host/a/../keys/x": "", "hcvault://u:p@host/transit/keys/x": "",
		awsScheme + standInARN:           "http://kms.example.com",
		"hcvault://host/transit/keys/x1": "http://host",
	} {
		c := NewKMSClient(KMSOptions{Env: func(name string) string {
			if name == "AWS_ENDPOINT_URL_KMS" || name == "VAULT_ADDR" {
				return env
			}
			return ""
		}})
		if _, err := c.GetAEAD(uri); err == nil {
			t.Errorf("%s is taken", uri)
		}
	}
}
