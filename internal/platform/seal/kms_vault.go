package seal

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

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
