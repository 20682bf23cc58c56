package seal

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/core/registry"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"
	"github.com/tink-crypto/tink-go/v2/tink"
)

const (
	fileVersion = 1
	secretSize  = 32
	// kmsContext is authenticated with a wrapped file, so a blob that the same KMS key wrapped for another use is
	// refused.
	kmsContext = "vigia key file 1"
	fileNote   = "Vigia key file. Who reads it can read all personal data in the database; without it nobody can. " +
		"Keep it mode 0600 and back it up apart from the database. Do not edit."
)

// keyFile is the file as written. Either Keys is set, or KMS and Wrapped are.
type keyFile struct {
	Version int    `json:"version"`
	Note    string `json:"note,omitzero"`
	// KMS is the URI of the key that wraps the file, as tink's registry understands it.
	KMS string `json:"kms_uri,omitzero"`
	// Wrapped is material in JSON, encrypted under a one-time key that the KMS key encrypts (tink's KMS envelope): one
	// call to the KMS, whatever its limit on sizes, and no way to mix parts of two files.
	Wrapped []byte    `json:"wrapped,omitzero"`
	Keys    *material `json:"keys,omitzero"`
}

// material is every secret of an installation.
type material struct {
	AEAD  jsontext.Value `json:"aead"` // a tink keyset
	Index secret         `json:"index"`
	Match secret         `json:"match"`
	MAC   secret         `json:"mac"`
}

// secret is a master secret. Its version is 1 until a file format that can hold two of them exists.
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
		s.Version, s.Key = 1, make([]byte, secretSize)
		_, _ = rand.Read(s.Key) // never fails: crypto/rand ends the program instead
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

// buildRing builds the AEAD from the keyset.
func (m *material) buildRing() (*ring, error) {
	h, err := m.openKeyset()
	if err != nil {
		return nil, err
	}
	a, err := aead.New(h)
	if err != nil {
		return nil, errKeyset
	}
	r := &ring{aead: a, primary: h.KeysetInfo().GetPrimaryKeyId()}
	for _, key := range h.KeysetInfo().GetKeyInfo() {
		r.ids = append(r.ids, key.GetKeyId())
	}
	return r, nil
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

// encodeFile turns secrets into the bytes of a key file, wrapped by the KMS key when uri is not empty.
func encodeFile(m *material, uri string) ([]byte, error) {
	f := keyFile{Version: fileVersion, Note: fileNote}
	if uri == "" {
		f.Keys = m
	} else {
		plain, err := json.Marshal(m)
		if err != nil {
			return nil, errors.New("seal: encode the keys")
		}
		defer clear(plain)
		kek, err := findKMSKey(uri)
		if err != nil {
			return nil, err
		}
		f.KMS = uri
		if f.Wrapped, err = kek.Encrypt(plain, []byte(kmsContext)); err != nil {
			const remedy = "the key %+q did not wrap the key file; see that this host may use it to encrypt"
			return nil, ErrKMS.Note(remedy, uri).Because(err)
		}
	}
	raw, err := json.Marshal(f, jsontext.WithIndent("  "))
	if err != nil {
		return nil, errors.New("seal: encode the key file")
	}
	return append(raw, '\n'), nil
}

// decodeFile reads the bytes of a key file. path is only for messages; no message quotes the bytes.
func decodeFile(path string, raw []byte) (m *material, uri string, err error) {
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, "", malformed(path, "it is not JSON with a version ("+errorPosition(err)+")")
	}
	if head.Version != fileVersion {
		return nil, "", ErrKeyFileVersion.Note(
			"%+q has version %d, this program reads %d: run the program that wrote it, or a newer one",
			path,
			head.Version,
			fileVersion,
		)
	}
	var f keyFile
	if err := json.Unmarshal(raw, &f, json.RejectUnknownMembers(true)); err != nil {
		return nil, "", malformed(path, "its members are not those of version 1 ("+errorPosition(err)+")")
	}
	switch {
	case f.Keys != nil && f.KMS == "" && f.Wrapped == nil:
		m = f.Keys
	case f.Keys == nil && f.KMS != "" && f.Wrapped != nil:
		if m, err = unwrapMaterial(path, f.KMS, f.Wrapped); err != nil {
			return nil, "", err
		}
	default:
		return nil, "", malformed(path, "it must hold either keys, or kms_uri and wrapped")
	}
	if err := m.checkSecrets(); err != nil {
		return nil, "", malformed(path, err.Error())
	}
	return m, f.KMS, nil
}

// unwrapMaterial opens a wrapped key file by its KMS key.
func unwrapMaterial(path, uri string, wrapped []byte) (*material, error) {
	kek, err := findKMSKey(uri)
	if err != nil {
		return nil, err
	}
	plain, err := kek.Decrypt(wrapped, []byte(kmsContext))
	if err != nil {
		const remedy = "the key %+q did not open %+q; see that this host may use it to decrypt, " +
			"and that the file is whole"
		return nil, ErrKMS.Note(remedy, uri, path).Because(err)
	}
	defer clear(plain)
	m := &material{}
	if err := json.Unmarshal(plain, m, json.RejectUnknownMembers(true)); err != nil {
		return nil, malformed(path, "what the KMS opened is not a set of keys")
	}
	return m, nil
}

// findKMSKey finds the KMS key through tink's registry, where the program registered the clients it was built with.
func findKMSKey(uri string) (tink.AEAD, error) {
	client, err := registry.GetKMSClient(uri)
	if err != nil {
		return nil, ErrKMS.Note("no KMS client of this program handles %+q", uri).Because(err)
	}
	kek, err := client.GetAEAD(uri)
	if err != nil {
		return nil, ErrKMS.Note("the KMS does not give the key %+q", uri).Because(err)
	}
	return aead.NewKMSEnvelopeAEAD2(aead.AES256GCMKeyTemplate(), kek), nil
}

// malformed returns the error for a file whose content is not a key file's.
func malformed(path, why string) error {
	return ErrKeyFileMalformed.Note("%+q is not a key file: %s; restore it from a backup", path, why)
}

// errorPosition returns where a parser stopped, without its message, which may quote a secret.
func errorPosition(err error) string {
	var syntax *jsontext.SyntacticError
	var meaning *json.SemanticError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return "it ends too early"
	case errors.As(err, &syntax):
		return fmt.Sprintf("syntax, at byte %d", syntax.ByteOffset)
	case errors.As(err, &meaning):
		return fmt.Sprintf("at byte %d", meaning.ByteOffset)
	}
	return "unreadable"
}
