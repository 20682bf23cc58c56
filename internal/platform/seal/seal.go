// Package seal keeps personal data unreadable at rest: it seals values with an AEAD bound to the place where they are
// stored, derives keyed blind indexes for looking values up, keyed 64-bit fingerprints for matching breaches, and keyed
// hashes for the audit chain and for cursors. All its secrets are in one ring, which the database keeps, wrapped by a
// root key that the database never holds: a key file, or a key of a key management service.
//
// It knows no table, no product word and no normal form: two spellings of one e-mail address are two values here, so
// callers normalise first. It never logs and never puts a value or a key in an error.
//
// Invariants: a sealed value opens only at the place it was sealed for and under a key of the ring; nothing is sealed
// under a key before the ring that holds it is committed, and nothing written under one that is closed (the store asks
// CheckWritten in the transaction); the index, match and MAC secrets of a ring never change (see
// docs/internal/design/0002-keys.md), so an index or a fingerprint computed once stays true.
package seal

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Faults of this package. Those about the key file name the path and the remedy in their detail.
var (
	// ErrSealBroken is a sealed value that does not open: altered, moved to another place, or under a key that is gone.
	ErrSealBroken = fault.New(fault.Internal, "seal.broken")
	// ErrWrongKeys is a ring of another installation.
	ErrWrongKeys = fault.New(fault.Internal, "seal.wrong_keys")

	ErrNoKeyFile        = fault.New(fault.NotFound, "seal.no_key_file")
	ErrKeyFileExists    = fault.New(fault.Conflict, "seal.key_file_exists")
	ErrKeyFileUnsafe    = fault.New(fault.Internal, "seal.key_file_unsafe")
	ErrKeyFileMalformed = fault.New(fault.Internal, "seal.key_file_malformed")
	ErrKeyFileVersion   = fault.New(fault.Internal, "seal.key_file_version")
	ErrKeyFileIO        = fault.New(fault.Internal, "seal.key_file_io")
	// ErrKMS is a key management service that could not be reached or does not open the ring.
	ErrKMS = fault.New(fault.Unavailable, "seal.kms")
	// ErrKeyNeeded is an old key that something still needs.
	ErrKeyNeeded = fault.New(fault.Conflict, "seal.key_needed")
)

// Keys holds the keys of one installation, opened by a root. All methods may be called by many goroutines at once.
type Keys struct {
	root         *Root
	installation string

	// mu serialises the methods that take up or change the ring; sealing and opening never take it.
	mu      sync.Mutex
	ringKey []byte // opens the body of the ring
	ring    atomic.Pointer[ring]
	// sealedBy are all keys that this process has ever held.
	sealedBy sync.Map

	// looked is when this process last looked at the ring, since it began.
	looked atomic.Int64
	// read reads the ring again; nil where there is none to read.
	read func(ctx context.Context) (WrappedRing, error)
	// reload is held by the one who reads, and guards what follows.
	reload   sync.Mutex
	reloaded time.Time
	// strange are keys that the database's ring does not hold either.
	strange  sync.Map
	stranger int

	// Derived once: a ring whose secrets differ from these is refused.
	index *deriver
	macs  *deriver
	match *matcher
	bind  [secretSize]byte
}

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

// Seal encrypts plain for the given place under the primary key. The result is Overhead bytes longer. A process that
// has not looked at the ring for a while, such as one that was stopped, does so first.
func (k *Keys) Seal(at Place, plain []byte) ([]byte, error) {
	if k.read != nil && time.Since(began)-time.Duration(k.looked.Load()) > staleAfter {
		k.lookAgain()
	}
	sealed, err := k.ring.Load().aead.Encrypt(plain, at.encodePlace())
	if err != nil {
		return nil, fmt.Errorf("seal: encrypt for %s.%s: %w", at.Table, at.Column, err)
	}
	return sealed, nil
}

// Unseal opens what Seal made for the same place. A value under a key that this process has not seen yet (another one
// has just rotated) makes it read the ring again, so a rotation needs no pause.
func (k *Keys) Unseal(at Place, sealed []byte) ([]byte, error) {
	id, ok := SealedWith(sealed)
	if !ok {
		return nil, ErrSealBroken.Because(fmt.Errorf("%s.%s: not a sealed value", at.Table, at.Column))
	}
	r, err := k.findKey(id)
	if err != nil {
		return nil, fmt.Errorf("%s.%s: %w", at.Table, at.Column, err)
	}
	plain, err := r.aead.Decrypt(sealed, at.encodePlace())
	if err != nil {
		return nil, ErrSealBroken.Because(fmt.Errorf("%s.%s: altered or moved: %w", at.Table, at.Column, err))
	}
	return plain, nil
}
