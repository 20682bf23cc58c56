package seal

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

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

// kmsKeys makes a ring whose root is a key of the service.
func kmsKeys(t *testing.T, uri string) *Keys {
	t.Helper()
	memory()
	root, err := OpenOrCreateRoot(uri)
	if err != nil {
		t.Fatal(err)
	}
	w, err := NewRing(root, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return open(t, root, &ringStore{ring: w})
}

func TestKMSIsTheRoot(t *testing.T) {
	k := kmsKeys(t, memScheme+"a")
	sealed := mustSeal(t, k, home, "x")
	for range 30 { // enough keys to pass the limit of a KMS, did it wrap them all
		mustRotate(t, k)
	}
	if len(storeOf(k).ring.Body) < memLimit {
		t.Error("too few keys for this test")
	}
	if own, has := storeOf(k).ring.FindRoot(memScheme + "a"); !has || own.CopiedAt == 0 {
		t.Error("the ring does not name the key, or asks for a copy of it")
	}
	again := reopen(t, k)
	mustUnseal(t, again, home, sealed, "x")
	if len(again.ListKeyIDs()) != 31 || !again.Root().IsKMS() {
		t.Errorf("%d keys", len(again.ListKeyIDs()))
	}
}

func TestKMSRefusals(t *testing.T) {
	k := kmsKeys(t, memScheme+"b")
	other, err := OpenRoot(memScheme + "c")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenRing(other, storeOf(k).ring); !errors.Is(err, ErrWrongRoot) {
		t.Errorf("another KMS key: %v", err)
	}
	w := storeOf(k).ring
	w.Roots = []WrappedKey{{Root: memScheme + "c", Wrapped: w.Roots[0].Wrapped}}
	if _, err := OpenRing(other, w); !errors.Is(err, ErrKMS) || !strings.Contains(err.Error(), memScheme+"c") {
		t.Errorf("a ring that another KMS key wrapped: %v", err)
	}
	w = storeOf(k).ring
	w.Installation = "i_another"
	if _, err := OpenRing(k.root, w); !errors.Is(err, ErrKMS) {
		t.Errorf("a wrapped key of another installation: %v", err)
	}
	for _, open := range []func(string) (*Root, error){OpenRoot, OpenOrCreateRoot} {
		if _, err := open("nokms://b"); !errors.Is(err, ErrKMS) {
			t.Errorf("a KMS this program does not know: %v", err)
		}
	}
}

// A KMS that fails hurts only what needs it: starting and changing roots.
func TestKMSDown(t *testing.T) {
	k := kmsKeys(t, memScheme+"d")
	sealed := mustSeal(t, k, home, "x")
	server := reopen(t, k)
	memory().setDown(true)
	t.Cleanup(func() { memory().setDown(false) })
	if _, err := OpenRing(k.root, storeOf(k).ring); !errors.Is(err, ErrKMS) {
		t.Errorf("OpenRing: %v", err)
	}
	if _, err := NewRing(k.root, time.Now()); !errors.Is(err, ErrKMS) {
		t.Errorf("NewRing: %v", err)
	}
	mustRotate(t, k)
	mustUnseal(t, server, home, mustSeal(t, k, home, "y"), "y")
	mustUnseal(t, k, home, sealed, "x")
	if err := commit(k, k.DropOtherRoots); !errors.Is(err, ErrKMS) {
		t.Errorf("a change of roots: %v", err)
	}
}
