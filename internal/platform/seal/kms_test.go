package seal

import (
	"bytes"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/core/registry"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// memKMS is a key management service inside the test: it makes a key for every URI asked for, limits what it encrypts
// as real ones do, and fails while down.
type memKMS struct {
	mu   sync.Mutex
	keys map[string]tink.AEAD
	down bool
}

const (
	memScheme = "memkms://"
	memLimit  = 4096 // AWS KMS
)

var memory = sync.OnceValue(func() *memKMS {
	k := &memKMS{keys: make(map[string]tink.AEAD)}
	registry.RegisterKMSClient(k)
	return k
})

func (k *memKMS) Supported(uri string) bool { return strings.HasPrefix(uri, memScheme) }

func (k *memKMS) GetAEAD(uri string) (tink.AEAD, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.keys[uri] == nil {
		h, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
		if err != nil {
			return nil, err
		}
		if k.keys[uri], err = aead.New(h); err != nil {
			return nil, err
		}
	}
	return memKey{k, k.keys[uri]}, nil
}

func (k *memKMS) setDown(down bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.down = down
}

func (k *memKMS) refusal(n int) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.down || n > memLimit {
		return errors.New("memkms: refused")
	}
	return nil
}

type memKey struct {
	service *memKMS
	aead    tink.AEAD
}

func (m memKey) Encrypt(plain, ad []byte) ([]byte, error) {
	if err := m.service.refusal(len(plain)); err != nil {
		return nil, err
	}
	return m.aead.Encrypt(plain, ad)
}

func (m memKey) Decrypt(sealed, ad []byte) ([]byte, error) {
	if err := m.service.refusal(len(sealed)); err != nil {
		return nil, err
	}
	return m.aead.Decrypt(sealed, ad)
}

func wrapped(t *testing.T, uri string) *Keys {
	t.Helper()
	memory()
	k, err := CreateKeyFile(filepath.Join(t.TempDir(), "keys.json"), WithKMSKey(uri))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestKMSFileHoldsNoSecret(t *testing.T) {
	k := wrapped(t, memScheme+"a")
	sealed := mustSeal(t, k, home, "x")
	token := k.NewBinding()
	for range 30 { // enough keys to pass the limit of a KMS, were they not in an envelope
		mustRotate(t, k)
	}
	raw, err := os.ReadFile(k.Path())
	if err != nil {
		t.Fatal(err)
	}
	m, uri, _, err := k.readFile()
	if err != nil {
		t.Fatal(err)
	}
	if uri != memScheme+"a" || !bytes.Contains(raw, []byte(uri)) {
		t.Errorf("the file does not name the KMS key but %q", uri)
	}
	if len(m.AEAD) < memLimit {
		t.Error("too few keys for this test")
	}
	for _, s := range []secret{m.Index, m.Match, m.MAC} {
		if bytes.Contains(raw, []byte(base64.StdEncoding.EncodeToString(s.Key))) {
			t.Error("a secret is in the clear")
		}
	}
	if bytes.Contains(raw, []byte("keyData")) {
		t.Error("the keyset is in the clear")
	}
	again := reopen(t, k.Path()) // the file says which key, so no option is needed
	mustUnseal(t, again, home, sealed, "x")
	if err := again.VerifyBinding(token); err != nil {
		t.Error(err)
	}
	if len(again.ListKeyIDs()) != 31 {
		t.Errorf("%d keys", len(again.ListKeyIDs()))
	}
}

func TestKMSRefusals(t *testing.T) {
	open := func(path string, opts ...Option) error {
		_, err := OpenKeyFile(path, opts...)
		return err
	}
	k := wrapped(t, memScheme+"b")
	raw, err := os.ReadFile(k.Path())
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other.json")
	write := func(text []byte) {
		t.Helper()
		if err := os.WriteFile(other, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(bytes.Replace(raw, []byte(memScheme+"b"), []byte(memScheme+"c"), 1))
	if err := open(other); !errors.Is(err, ErrKMS) || !strings.Contains(err.Error(), other) {
		t.Errorf("another KMS key: %v", err)
	}
	write(bytes.Replace(raw, []byte(memScheme+"b"), []byte("nokms://b"), 1))
	if err := open(other); !errors.Is(err, ErrKMS) {
		t.Errorf("a KMS this program does not know: %v", err)
	}
	at := bytes.Index(raw, []byte(`"wrapped": "`)) + len(`"wrapped": "`) + 200
	bad := bytes.Clone(raw)
	if bad[at] == 'A' {
		bad[at] = 'B'
	} else {
		bad[at] = 'A'
	}
	write(bad)
	if err := open(other); !errors.Is(err, ErrKMS) {
		t.Errorf("an altered file: %v", err)
	}
	if err := open(k.Path(), WithKMSKey(memScheme+"b")); err != nil {
		t.Errorf("the right key asked for: %v", err)
	}
	if err := open(k.Path(), WithKMSKey(memScheme+"c")); !errors.Is(err, ErrKMS) {
		t.Errorf("another key asked for: %v", err)
	}
	if err := open(writeGolden(t), WithKMSKey(memScheme+"b")); !errors.Is(err, ErrKMS) {
		t.Errorf("a file in the clear where a KMS was asked for: %v", err)
	}
	absent := filepath.Join(t.TempDir(), "keys.json")
	if _, err := CreateKeyFile(absent, WithKMSKey("nokms://b")); !errors.Is(err, ErrKMS) {
		t.Errorf("Create with a KMS this program does not know: %v", err)
	}
	if _, err := os.Stat(absent); !os.IsNotExist(err) {
		t.Errorf("it left a file: %v", err)
	}
}

// A KMS that fails hurts only what needs it: starting and rotating.
func TestKMSDown(t *testing.T) {
	k := wrapped(t, memScheme+"d")
	sealed := mustSeal(t, k, home, "x")
	memory().setDown(true)
	t.Cleanup(func() { memory().setDown(false) })
	if _, err := OpenKeyFile(k.Path()); !errors.Is(err, ErrKMS) {
		t.Errorf("Open: %v", err)
	}
	if err := k.RotateKey(); !errors.Is(err, ErrKMS) {
		t.Errorf("Rotate: %v", err)
	}
	if changed, err := k.ReloadFile(); changed || err != nil {
		t.Errorf("Reload of an unchanged file asks the KMS: %v, %v", changed, err)
	}
	mustUnseal(t, k, home, sealed, "x")
	memory().setDown(false)
	mustRotate(t, k)
	mustUnseal(t, reopen(t, k.Path()), home, sealed, "x")
}
