// Package seal keeps personal data unreadable at rest: it seals values with an AEAD bound to the place where they are
// stored, derives keyed blind indexes for looking values up, keyed 64-bit fingerprints for matching breaches, and keyed
// hashes for the audit chain and for cursors. It also owns the key file: how it is made, checked, rotated and read
// again.
//
// It knows no table, no product word and no normal form: two spellings of one e-mail address are two values here, so
// callers normalise first. It never logs and never puts a value or a key in an error.
//
// Invariants: a sealed value opens only at the place it was sealed for and under a key in the file; the file is only
// ever replaced whole, and a key seals nothing before the file that holds it is on disk; the index, match and MAC
// secrets of a file never change (see docs/internal/design/0002-keys.md), so an index or a fingerprint computed once
// stays true.
package seal

import (
	"crypto/hmac"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	daead "github.com/tink-crypto/tink-go/v2/daead/subtle"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Faults of this package. Those about the key file name the path and the remedy in their detail.
var (
	// ErrSealBroken is a sealed value that does not open: altered, moved to another place, or under a key that is gone.
	ErrSealBroken = fault.New(fault.Internal, "seal.broken")
	// ErrWrongKeys is a key file that is sound but belongs to another database.
	ErrWrongKeys = fault.New(fault.Internal, "seal.wrong_keys")

	ErrNoKeyFile        = fault.New(fault.NotFound, "seal.no_key_file")
	ErrKeyFileExists    = fault.New(fault.Conflict, "seal.key_file_exists")
	ErrKeyFileUnsafe    = fault.New(fault.Internal, "seal.key_file_unsafe")
	ErrKeyFileMalformed = fault.New(fault.Internal, "seal.key_file_malformed")
	ErrKeyFileVersion   = fault.New(fault.Internal, "seal.key_file_version")
	ErrKeyFileIO        = fault.New(fault.Internal, "seal.key_file_io")
	// ErrKMS is a key management service that could not be reached or does not open the file.
	ErrKMS = fault.New(fault.Unavailable, "seal.kms")

	ErrUnknownKey = fault.New(fault.NotFound, "seal.unknown_key")
	ErrPrimaryKey = fault.New(fault.Conflict, "seal.primary_key")
	// ErrKeyNeeded is an old key that something still needs.
	ErrKeyNeeded = fault.New(fault.Conflict, "seal.key_needed")
)

// Keys holds the keys of one key file. All methods may be called by many goroutines at once.
type Keys struct {
	path string
	kms  string // what WithKMS asked for, empty when it did not

	// mu serialises the methods that read or replace the file; sealing and opening never take it.
	mu   sync.Mutex
	file os.FileInfo // what the file looked like when ring was read from it
	// wrappedBy is the key of a key management service that wrapped the file when it was opened.
	wrappedBy string

	ring atomic.Pointer[ring]

	// Derived once: a file whose secrets differ from these is refused by Reload.
	index *deriver
	macs  *deriver
	match *matcher
	bind  [secretSize]byte
}

// ring is the AEAD part of a key file as it was at one moment. It is never changed, only replaced.
type ring struct {
	aead    tink.AEAD
	ids     []uint32 // oldest first
	primary uint32
}

func (r *ring) holdsKey(id uint32) bool { return slices.Contains(r.ids, id) }

// Place says where a sealed value is stored. It is authenticated with the value, so a ciphertext copied to another
// table, column, partner or row does not open there. A place that has no partner, or no row, leaves the field empty.
type Place struct{ Table, Column, Partner, Row string }

// placeVersion is the first byte of every encoded place: another encoding gets another byte and can never collide.
const placeVersion = 1

// encodePlace writes the place so that no two places share an encoding: each part is preceded by its length.
func (p Place) encodePlace() []byte {
	const lengths = 4 * 2 // room for four lengths below 16,384; longer parts only cost a second allocation
	ad := make([]byte, 0, 1+lengths+len(p.Table)+len(p.Column)+len(p.Partner)+len(p.Row))
	ad = append(ad, placeVersion)
	for _, part := range [...]string{p.Table, p.Column, p.Partner, p.Row} {
		ad = binary.AppendUvarint(ad, uint64(len(part)))
		ad = append(ad, part...)
	}
	return ad
}

// Seal encrypts plain for the given place under the primary key. The result is Overhead bytes longer.
func (k *Keys) Seal(at Place, plain []byte) ([]byte, error) {
	sealed, err := k.ring.Load().aead.Encrypt(plain, at.encodePlace())
	if err != nil {
		return nil, fmt.Errorf("seal: encrypt for %s.%s: %w", at.Table, at.Column, err)
	}
	return sealed, nil
}

// Unseal opens what Seal made for the same place. A value under a key this process has not seen yet (another process
// has just rotated) makes it read the key file again, so a rotation needs no pause.
func (k *Keys) Unseal(at Place, sealed []byte) ([]byte, error) {
	id, ok := SealedWith(sealed)
	if !ok {
		return nil, ErrSealBroken.Because(fmt.Errorf("%s.%s: not a sealed value", at.Table, at.Column))
	}
	r := k.ring.Load()
	if !r.holdsKey(id) {
		_, reloadErr := k.ReloadFile()
		if r = k.ring.Load(); !r.holdsKey(id) {
			if reloadErr == nil {
				reloadErr = fmt.Errorf(
					"%s.%s: sealed under key %08x, which is not in the key file",
					at.Table,
					at.Column,
					id,
				)
			}
			return nil, ErrSealBroken.Because(reloadErr)
		}
	}
	plain, err := r.aead.Decrypt(sealed, at.encodePlace())
	if err != nil {
		return nil, ErrSealBroken.Because(fmt.Errorf("%s.%s: altered or moved: %w", at.Table, at.Column, err))
	}
	return plain, nil
}

// A sealed value is tink's: one byte that says "tink", the key id in big endian, then nonce, ciphertext and tag.
const (
	// PrefixSize is how many leading bytes of a sealed value name its key.
	PrefixSize = 5
	// Overhead is how much longer a sealed value is than its plaintext: prefix, 24-byte nonce, 16-byte tag.
	Overhead = PrefixSize + 24 + 16

	tinkByte = 1
)

// SealedWith returns which key sealed a value, without opening it. It is false for bytes that Seal cannot have made.
func SealedWith(sealed []byte) (id uint32, ok bool) {
	if len(sealed) < Overhead || sealed[0] != tinkByte {
		return 0, false
	}
	return binary.BigEndian.Uint32(sealed[1:PrefixSize]), true
}

// SealedPrefix returns the first bytes of everything sealed under the key id, so that a query can count and find those
// rows with substr(column, 1, 5).
func SealedPrefix(id uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{tinkByte}, id)
}

// PrimaryPrefix returns the Prefix of the key that seals now: rows without it wait to be sealed anew.
func (k *Keys) PrimaryPrefix() []byte { return SealedPrefix(k.PrimaryID()) }

// PrimaryID returns the id of the key that seals now.
func (k *Keys) PrimaryID() uint32 { return k.ring.Load().primary }

// ListKeyIDs returns the ids of all keys that open, oldest first.
func (k *Keys) ListKeyIDs() []uint32 { return slices.Clone(k.ring.Load().ids) }

// WrappingKey returns the key that wraps the file; empty when the file holds the keys in the clear.
func (k *Keys) WrappingKey() string { return k.wrappedBy }

// Path returns where the key file is.
func (k *Keys) Path() string { return k.path }

// redacted is what any formatting of keys prints.
const redacted = "seal.Keys(redacted)"

// Format writes the same fixed text for every verb, so that no print or log of a struct holding Keys shows a key.
func (k *Keys) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte(redacted)) }

// String reveals nothing.
func (k *Keys) String() string { return redacted }

// GoString reveals nothing.
func (k *Keys) GoString() string { return redacted }

// LogValue reveals nothing.
func (k *Keys) LogValue() slog.Value { return slog.StringValue(redacted) }

// SealTable encrypts the table of labels of a segment, bound to the context. Its key follows from the match secret, as
// the fingerprints beside it do, and for the same reason does not rotate: a segment is never written again. AES-SIV
// gives the same bytes for the same table and context, so that a dump that is imported twice is known by its digest; it
// shows no more than that two tables are equal.
func (k *Keys) SealTable(context, table []byte) ([]byte, error) {
	sealed, err := k.match.tables.EncryptDeterministically(table, context)
	if err != nil {
		return nil, fmt.Errorf("seal: table: %w", err)
	}
	return sealed, nil
}

// OpenTable opens what SealTable made for the same context.
func (k *Keys) OpenTable(context, sealed []byte) ([]byte, error) {
	table, err := k.match.tables.DecryptDeterministically(sealed, context)
	if err != nil {
		return nil, ErrSealBroken.Because(
			fmt.Errorf("table of labels: altered, moved, or of another installation: %w", err),
		)
	}
	return table, nil
}

// newTables derives the key of tables, which is twice as long as others, from the match secret.
func newTables(secret []byte) *daead.AESSIV {
	h := hmac.New(sha512.New, secret)
	h.Write([]byte(labelTable))
	siv, err := daead.NewAESSIV(h.Sum(nil))
	if err != nil {
		panic(err) // the length of the key is wrong, which is a constant
	}
	return siv
}

// Option changes how a key file is opened or created.
type Option func(*Keys)

// WithKMSKey has the key file wrapped by a key of a key management service: Create makes such a file, Open refuses a
// file that is in the clear or names another key. Without it, Open follows what the file says. The URI is resolved by
// tink's registry.
func WithKMSKey(uri string) Option { return func(k *Keys) { k.kms = uri } }

// OpenKeyFile reads the key file at path. It refuses a file that is missing, is a link, is open to others, belongs to
// another user, is damaged or was written by a newer program.
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
		return nil, "", nil, ErrKMS.Note(
			"%+q is not wrapped by the KMS key %+q; correct the setting, or restore the right file",
			k.path,
			k.kms,
		)
	}
	return m, uri, info, nil
}

// ReloadFile takes up a rotation that another process made. When the file is unchanged it costs one stat; when anything
// is wrong with the file it keeps the keys it has and says so.
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

// adoptMaterial replaces the ring by the keys in m, once it is sure that m is a later state of the same file and that
// it is on disk.
func (k *Keys) adoptMaterial(m *material, info os.FileInfo) (changed bool, err error) {
	if bind := m.bindingKey(); subtle.ConstantTimeCompare(bind[:], k.bind[:]) != 1 {
		return false, ErrWrongKeys.Note(
			"%+q was replaced by the key file of another installation; put the right one back",
			k.path,
		)
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

// DropRetiredKey removes an old key from the file for good: what is still sealed under it is lost. The caller has
// counted that nothing is, and that every server has reloaded since the rotation, as one that has not still seals under
// the old key. The primary key is refused.
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
