package seal

import (
	"errors"
	"strings"

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
