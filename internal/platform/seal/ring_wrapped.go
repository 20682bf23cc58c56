package seal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	aeads "github.com/tink-crypto/tink-go/v2/aead/subtle"
)

// WrappedRing is the ring as a database and a backup keep it. Without a root nothing of it can be opened.
type WrappedRing struct {
	// Installation is a random name that all states of a ring have in common.
	Installation string `json:"installation"`
	// Epoch grows with every change, by a random step.
	Epoch int64 `json:"epoch"`
	// Body is every secret, sealed under the ring's own key and bound to installation and epoch.
	Body []byte `json:"body"`
	// Roots are the ring's key under each live root.
	Roots []WrappedKey `json:"roots"`
}

// WrappedKey is the key of a ring, wrapped by a root.
type WrappedKey struct {
	Root    string `json:"root"`
	Wrapped []byte `json:"wrapped"`
	// CopiedAt is when somebody has last shown a copy of the root, in microseconds since 1970; 0: never.
	CopiedAt int64 `json:"copied_at,omitzero"`
}

// RootIDs returns the live roots.
func (w WrappedRing) RootIDs() []string {
	ids := make([]string, len(w.Roots))
	for i, k := range w.Roots {
		ids[i] = k.Root
	}
	return ids
}

// FindRoot returns the key as a root has wrapped it.
func (w WrappedRing) FindRoot(id string) (WrappedKey, bool) {
	i := slices.IndexFunc(w.Roots, func(k WrappedKey) bool { return k.Root == id })
	if i < 0 {
		return WrappedKey{}, false
	}
	return w.Roots[i], true
}

// bodyContext binds the body of a ring to its installation and epoch.
func (w WrappedRing) bodyContext() []byte {
	return binary.AppendVarint([]byte("vigia ring 1: "+w.Installation+"\x00"), w.Epoch)
}

// sealBody puts the secrets into the ring, sealed under the ring's key.
func (w *WrappedRing) sealBody(m *material, key []byte) error {
	plain, err := json.Marshal(m)
	if err != nil {
		return errors.New("seal: encode the ring")
	}
	defer clear(plain)
	a, err := aeads.NewXChaCha20Poly1305(key)
	if err != nil {
		return fmt.Errorf("seal: the key of the ring: %w", err)
	}
	if w.Body, err = a.Encrypt(plain, w.bodyContext()); err != nil {
		return fmt.Errorf("seal: wrap the ring: %w", err)
	}
	return nil
}

// openBody opens the secrets of the ring.
func (w WrappedRing) openBody(key []byte) (*material, error) {
	a, err := aeads.NewXChaCha20Poly1305(key)
	if err != nil {
		return nil, ErrRingBroken
	}
	plain, err := a.Decrypt(w.Body, w.bodyContext())
	if err != nil {
		return nil, ErrRingBroken
	}
	defer clear(plain)
	return decodeMaterial(plain)
}
