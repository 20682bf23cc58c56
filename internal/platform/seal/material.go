package seal

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"
)

// material is every secret of an installation.
type material struct {
	AEAD jsontext.Value `json:"aead"` // a tink keyset
	// Closed are keys of the keyset under which nothing may be written any more.
	Closed []uint32 `json:"closed,omitzero"`
	Index  secret   `json:"index"`
	Match  secret   `json:"match"`
	MAC    secret   `json:"mac"`
}

// secret is a master secret. Its version is 1 until a ring exists that can hold two of them.
type secret struct {
	Version int    `json:"version"`
	Key     []byte `json:"key"`
}

// wipeSecrets overwrites what this package holds of the secrets. Copies inside tink and those the collector moved stay:
// Go gives no hold on them.
func (m *material) wipeSecrets() {
	clear(m.AEAD)
	clear(m.Index.Key)
	clear(m.Match.Key)
	clear(m.MAC.Key)
}

// newMaterial makes the secrets of a new installation.
func newMaterial() (*material, error) {
	h, err := keyset.NewHandle(keyTemplate())
	if err != nil {
		return nil, fmt.Errorf("seal: make a key: %w", err)
	}
	m := &material{}
	for _, s := range []*secret{&m.Index, &m.Match, &m.MAC} {
		s.Version, s.Key = 1, newSecret()
	}
	return m, m.setHandle(h)
}

// keyTemplate returns the AEAD of new keys: XChaCha20-Poly1305 with tink's prefix. Its 192-bit random nonces do not
// repeat in any number of messages we can reach; docs/internal/design/0002-keys.md has the comparison.
func keyTemplate() *tinkpb.KeyTemplate { return aead.XChaCha20Poly1305KeyTemplate() }

// setHandle replaces the serialised keyset and clears the old one from memory.
func (m *material) setHandle(h *keyset.Handle) error {
	var b bytes.Buffer
	if err := insecurecleartextkeyset.Write(h, keyset.NewJSONWriter(&b)); err != nil {
		return fmt.Errorf("seal: write the keyset: %w", err)
	}
	clear(m.AEAD)
	m.AEAD = b.Bytes()
	return nil
}

// errKeyset is all that is said of a broken keyset: details could tell of the key.
var errKeyset = errors.New("the keyset is not usable")

// openKeyset reads the tink keyset. Causes are dropped on purpose: a parser's message may quote what it read.
func (m *material) openKeyset() (*keyset.Handle, error) {
	h, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(bytes.NewReader(m.AEAD)))
	if err != nil {
		return nil, errKeyset
	}
	for _, key := range h.KeysetInfo().GetKeyInfo() {
		// Without tink's prefix SealedWith would lie; a disabled key would leave rows that no id explains.
		if key.GetOutputPrefixType() != tinkpb.OutputPrefixType_TINK ||
			key.GetStatus() != tinkpb.KeyStatusType_ENABLED ||
			key.GetTypeUrl() != keyTemplate().GetTypeUrl() {
			return nil, errKeyset
		}
	}
	return h, nil
}

// checkSecrets refuses secrets that cannot have come from newMaterial.
func (m *material) checkSecrets() error {
	for name, s := range map[string]secret{"index": m.Index, "match": m.Match, "mac": m.MAC} {
		if s.Version != 1 {
			return fmt.Errorf("the %s secret has version %d, this program knows 1", name, s.Version)
		}
		if len(s.Key) != secretSize || bytes.Equal(s.Key, make([]byte, secretSize)) {
			return fmt.Errorf("the %s secret is not %d random bytes", name, secretSize)
		}
	}
	return nil
}

// decodeMaterial reads the secrets of a ring. No message quotes the bytes.
func decodeMaterial(plain []byte) (*material, error) {
	m := &material{}
	if err := json.Unmarshal(plain, m, json.RejectUnknownMembers(true)); err != nil {
		return nil, ErrRingBroken.Note("the ring was written by another program (%s)", errorPosition(err))
	}
	if err := m.checkSecrets(); err != nil {
		return nil, ErrRingBroken.Note("the ring is not usable: %s", err)
	}
	return m, nil
}
