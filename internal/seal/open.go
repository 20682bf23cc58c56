package seal

import (
	"crypto/subtle"
	"errors"
	"os"
	"slices"

	"github.com/tink-crypto/tink-go/v2/keyset"
)

// Option changes how a key file is opened or created.
type Option func(*Keys)

// WithKMSKey has the key file wrapped by a key of a key management service: Create makes such a file, Open refuses a file
// that is in the clear or names another key. Without it, Open follows what the file says. The URI is resolved by tink's
// registry.
func WithKMSKey(uri string) Option { return func(k *Keys) { k.kms = uri } }

// OpenKeyFile reads the key file at path. It refuses a file that is missing, is a link, is open to others, belongs to another
// user, is damaged or was written by a newer program.
func OpenKeyFile(path string, opts ...Option) (*Keys, error) {
	k := &Keys{path: path}
	for _, o := range opts {
		o(k)
	}
	m, uri, info, err := k.readFile()
	if err != nil {
		return nil, err
	}
	defer m.wipeSecrets()
	k.wrappedBy = uri
	r, err := m.buildRing()
	if err != nil {
		return nil, malformed(path, err.Error())
	}
	k.index, k.macs = newDeriver(m.Index.Key, labelIndex), newDeriver(m.MAC.Key, labelMAC)
	k.bind, k.match = m.bindingKey(), newMatcher(m.Match.Key)
	if err := syncRenamed(path); err != nil {
		return nil, err
	}
	k.ring.Store(r)
	k.file = info
	return k, nil
}

// CreateKeyFile makes a key file with new random keys, mode 0600, and opens it. It never replaces a file.
func CreateKeyFile(path string, opts ...Option) (*Keys, error) {
	k := &Keys{path: path}
	for _, o := range opts {
		o(k)
	}
	if err := k.createFile(); err != nil {
		return nil, err
	}
	return OpenKeyFile(path, opts...)
}

// createFile writes a key file with new random keys.
func (k *Keys) createFile() error {
	unlock, err := lockKeyFile(k.path)
	if err != nil {
		return err
	}
	defer unlock()
	m, err := newMaterial()
	if err != nil {
		return err
	}
	defer m.wipeSecrets()
	raw, err := encodeFile(m, k.kms)
	if err != nil {
		return err
	}
	defer clear(raw)
	return writeFile(k.path, raw, true)
}

// OpenOrCreate opens the key file at path and makes it first when there is none. Many processes may do so at once: one
// file is made and all open it. A caller whose database already exists uses Open instead, as new keys would not open
// it.
func OpenOrCreate(path string, opts ...Option) (*Keys, error) {
	k, err := OpenKeyFile(path, opts...)
	if !errors.Is(err, ErrNoKeyFile) {
		return k, err
	}
	k, err = CreateKeyFile(path, opts...)
	if errors.Is(err, ErrKeyFileExists) {
		return OpenKeyFile(path, opts...)
	}
	return k, err
}

// readFile reads and decodes the file as it is now. The caller wipes the material.
func (k *Keys) readFile() (m *material, uri string, info os.FileInfo, err error) {
	raw, info, err := readKeyFile(k.path)
	if err != nil {
		return nil, "", nil, err
	}
	defer clear(raw)
	if m, uri, err = decodeFile(k.path, raw); err != nil {
		return nil, "", nil, err
	}
	if k.kms != "" && uri != k.kms {
		m.wipeSecrets()
		return nil, "", nil, ErrKMS.Note("%+q is not wrapped by the KMS key %+q; correct the setting, or restore the right file", k.path, k.kms)
	}
	return m, uri, info, nil
}

// ReloadFile takes up a rotation that another process made. When the file is unchanged it costs one stat; when anything is
// wrong with the file it keeps the keys it has and says so.
func (k *Keys) ReloadFile() (changed bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if now, err := os.Lstat(k.path); err == nil && isSameFile(now, k.file) {
		return false, nil
	}
	return k.adoptFile()
}

// adoptFile takes up the file as it is now.
func (k *Keys) adoptFile() (changed bool, err error) {
	m, _, info, err := k.readFile()
	if err != nil {
		return false, err
	}
	defer m.wipeSecrets()
	return k.adoptMaterial(m, info)
}

// adoptMaterial replaces the ring by the keys in m, once it is sure that m is a later state of the same file and that it is on
// disk.
func (k *Keys) adoptMaterial(m *material, info os.FileInfo) (changed bool, err error) {
	if bind := m.bindingKey(); subtle.ConstantTimeCompare(bind[:], k.bind[:]) != 1 {
		return false, ErrWrongKeys.Note("%+q was replaced by the key file of another installation; put the right one back", k.path)
	}
	r, err := m.buildRing()
	if err != nil {
		return false, malformed(k.path, err.Error())
	}
	if err := syncRenamed(k.path); err != nil {
		return false, err
	}
	was := k.ring.Swap(r)
	k.file = info
	return was.primary != r.primary || !slices.Equal(was.ids, r.ids), nil
}

// KindRewrite is the kind of the job that seals anew, after a rotation, what older keys have sealed.
const KindRewrite = "keys.rewrite"

// RotateKey adds a new key to the file and seals with it from now on. Old keys go on opening. Indexes, fingerprints and
// MACs do not change. After an error the file holds the old keys or, when only the last sync failed, the new ones too;
// this process goes on with the old ones either way.
func (k *Keys) RotateKey() error {
	return k.replaceKeyset(func(m *keyset.Manager, _ *ring) error {
		id, err := m.Add(keyTemplate())
		if err != nil {
			return err
		}
		return m.SetPrimary(id)
	})
}

// DropRetiredKey removes an old key from the file for good: what is still sealed under it is lost. The caller has counted that
// nothing is, and that every server has reloaded since the rotation, as one that has not still seals under the old key.
// The primary key is refused.
func (k *Keys) DropRetiredKey(id uint32) error {
	return k.replaceKeyset(func(m *keyset.Manager, r *ring) error {
		switch {
		case !r.holdsKey(id):
			return ErrUnknownKey.Note("the key file %+q holds no key %08x", k.path, id)
		case r.primary == id:
			return ErrPrimaryKey.Note("key %08x seals new values: rotate first, seal the rows anew, then drop it", id)
		}
		return m.Delete(id)
	})
}

// replaceKeyset changes the keyset in the file. It starts from the file, not from memory, and holds the lock, so two
// processes that rotate at once both take effect.
func (k *Keys) replaceKeyset(change func(*keyset.Manager, *ring) error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	unlock, err := lockKeyFile(k.path)
	if err != nil {
		return err
	}
	defer unlock()
	m, uri, info, err := k.readFile()
	if err != nil {
		return err
	}
	defer m.wipeSecrets()
	if _, err := k.adoptMaterial(m, info); err != nil {
		return err
	}
	h, err := m.openKeyset()
	if err != nil {
		return malformed(k.path, err.Error())
	}
	manager := keyset.NewManagerFromHandle(h)
	if err := change(manager, k.ring.Load()); err != nil {
		return err
	}
	if h, err = manager.Handle(); err != nil {
		return err
	}
	if err := m.setHandle(h); err != nil {
		return err
	}
	raw, err := encodeFile(m, uri)
	if err != nil {
		return err
	}
	defer clear(raw)
	if err := writeFile(k.path, raw, false); err != nil {
		return err
	}
	_, err = k.adoptFile() // through the same checks as any other
	return err
}
