package seal

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	aeads "github.com/tink-crypto/tink-go/v2/aead/subtle"
	"github.com/tink-crypto/tink-go/v2/core/registry"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// Root is the key outside the database: a key file, or a key of a key management service. It wraps the key of the ring
// and nothing else, and a running service never writes it.
type Root struct {
	id, place string
	aead      tink.AEAD
	made      bool
}

// ID names the root without giving it away: a keyed hash of a key file's key, the URI of a KMS key.
func (r *Root) ID() string { return r.id }

// Place returns where the root is: the path of the key file, or the URI of the KMS key.
func (r *Root) Place() string { return r.place }

// IsKMS reports whether a key management service keeps the root.
func (r *Root) IsKMS() bool { return strings.Contains(r.place, "://") }

// WasMade reports whether this call of OpenOrCreateRoot made the key file: nobody can have a copy of it yet.
func (r *Root) WasMade() bool { return r.made }

// Format writes the same fixed text for every verb, so that no print or log of a struct holding a root shows it.
func (r *Root) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte("seal.Root(redacted)")) }

const (
	fileVersion = 2
	fileKind    = "vigia root key"
	secretSize  = 32
	fileNote    = "Vigia root key. It opens the ring of keys in the database: with both, all personal data can be " +
		"read; without this file nobody can. Keep it mode 0600, and a copy apart from the database and its backups. " +
		"The service never writes it. Do not edit."
	// labelRootID keeps the id of a root apart from every other use of its key.
	labelRootID = "vigia root id 1"
)

// rootFile is the key file as written.
type rootFile struct {
	Version int    `json:"version"`
	Kind    string `json:"kind"`
	Note    string `json:"note,omitzero"`
	Key     []byte `json:"key"`
}

// OpenRoot opens the root at place: the path of a key file, or the URI of a KMS key. A key file is refused that is
// missing, is a link, is open to others, belongs to another user, is damaged or was written by a newer program.
func OpenRoot(place string) (*Root, error) {
	if strings.Contains(place, "://") {
		return openKMSRoot(place)
	}
	raw, _, err := readKeyFile(place)
	if err != nil {
		return nil, err
	}
	defer clear(raw)
	f, err := decodeFile(place, raw)
	if err != nil {
		return nil, err
	}
	defer clear(f.Key)
	if err := syncRenamed(place); err != nil {
		return nil, err
	}
	return newFileRoot(place, f.Key)
}

// newFileRoot returns the root whose key a file holds.
func newFileRoot(path string, key []byte) (*Root, error) {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(labelRootID))
	a, err := aeads.NewXChaCha20Poly1305(bytes.Clone(key))
	if err != nil {
		return nil, malformed(path, "its key is not usable")
	}
	return &Root{id: "file:" + hex.EncodeToString(h.Sum(nil)[:8]), place: path, aead: a}, nil
}

// openKMSRoot finds the KMS key through tink's registry, where the program registered the clients it was built with.
// The service is asked when the ring is opened or wrapped.
func openKMSRoot(uri string) (*Root, error) {
	client, err := registry.GetKMSClient(uri)
	if err != nil {
		return nil, ErrKMS.Note("no KMS client of this program handles %+q", uri).Because(err)
	}
	kek, err := client.GetAEAD(uri)
	if err != nil {
		return nil, ErrKMS.Note("the KMS does not give the key %+q", uri).Because(err)
	}
	return &Root{id: uri, place: uri, aead: kek}, nil
}

// CreateRootFile makes a key file with a new random root, mode 0600, and opens it. It never replaces a file.
func CreateRootFile(path string) (*Root, error) {
	unlock, err := lockKeyFile(path)
	if err != nil {
		return nil, err
	}
	defer unlock()
	f := rootFile{Version: fileVersion, Kind: fileKind, Note: fileNote, Key: newSecret()}
	defer clear(f.Key)
	raw, err := json.Marshal(f, jsontext.WithIndent("  "))
	if err != nil {
		return nil, errors.New("seal: encode the key file")
	}
	defer clear(raw)
	if err := writeNewFile(path, append(raw, '\n')); err != nil {
		return nil, err
	}
	r, err := OpenRoot(path)
	if err == nil {
		r.made = true
	}
	return r, err
}

// OpenOrCreateRoot opens the root at place and makes a key file first when there is none. Many processes may do so at
// once: one file is made and all open it. It is for a database that has no ring yet; a new root cannot open another.
func OpenOrCreateRoot(place string) (*Root, error) {
	r, err := OpenRoot(place)
	if !errors.Is(err, ErrNoKeyFile) {
		return r, err
	}
	r, err = CreateRootFile(place)
	if errors.Is(err, ErrKeyFileExists) {
		return OpenRoot(place)
	}
	return r, err
}

// newSecret returns a random secret.
func newSecret() []byte {
	key := make([]byte, secretSize)
	_, _ = rand.Read(key) // never fails: crypto/rand ends the program instead
	return key
}

// wrapKey wraps the key of a ring.
func (r *Root) wrapKey(key []byte, installation string) (WrappedKey, error) {
	wrapped, err := r.aead.Encrypt(key, rootContext(installation))
	if err != nil {
		const remedy = "the root %+q did not wrap the ring; see that this host may use it to encrypt"
		return WrappedKey{}, ErrKMS.Note(remedy, r.place).Because(err)
	}
	return WrappedKey{Root: r.id, Wrapped: wrapped}, nil
}

// unwrapKey opens the key of a ring that this root has wrapped.
func (r *Root) unwrapKey(w WrappedKey, installation string) ([]byte, error) {
	key, err := r.aead.Decrypt(w.Wrapped, rootContext(installation))
	if err == nil && len(key) != secretSize {
		err = errors.New("it is not a key")
	}
	switch {
	case err != nil && r.IsKMS():
		const remedy = "the key %+q did not open the ring of the database; see that this host may use it to decrypt"
		return nil, ErrKMS.Note(remedy, r.place).Because(err)
	case err != nil:
		return nil, ErrRingBroken.Because(err)
	}
	return key, nil
}

// rootContext is authenticated with a wrapped key, so that one of another installation or use is refused.
func rootContext(installation string) []byte { return []byte("vigia ring key 1: " + installation) }

// decodeFile reads the bytes of a key file. path is only for messages; no message quotes the bytes.
func decodeFile(path string, raw []byte) (f rootFile, err error) {
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return f, malformed(path, "it is not JSON with a version ("+errorPosition(err)+")")
	}
	if head.Version != fileVersion {
		return f, ErrKeyFileVersion.Note(
			"%+q has version %d, this program reads %d: run the program that wrote it, or a newer one",
			path,
			head.Version,
			fileVersion,
		)
	}
	if err := json.Unmarshal(raw, &f, json.RejectUnknownMembers(true)); err != nil {
		return f, malformed(path, fmt.Sprintf("its members are not those of version %d (%s)", fileVersion,
			errorPosition(err)))
	}
	if f.Kind != fileKind {
		return f, malformed(path, "its kind is not "+fileKind)
	}
	if len(f.Key) != secretSize || bytes.Equal(f.Key, make([]byte, secretSize)) {
		return f, malformed(path, fmt.Sprintf("its key is not %d random bytes", secretSize))
	}
	return f, nil
}

// malformed returns the error for a file whose content is not a key file's.
func malformed(path, why string) error {
	return ErrKeyFileMalformed.Note("%+q is not a key file: %s; restore it from its copy", path, why)
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

// CheckRootFile looks at the key file without opening the ring: whether others may read it, and whether it is whole.
func CheckRootFile(path string) (os.FileInfo, error) {
	raw, info, err := readKeyFile(path)
	if err != nil {
		return nil, err
	}
	defer clear(raw)
	f, err := decodeFile(path, raw)
	clear(f.Key)
	return info, err
}
