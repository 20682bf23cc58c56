package seal

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tink-crypto/tink-go/v2/aead"
	aeads "github.com/tink-crypto/tink-go/v2/aead/subtle"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/vigiahq/vigia/internal/platform/fault"
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

// ring is the AEAD part of a ring as it was at one moment. It is never changed, only replaced.
type ring struct {
	aead    tink.AEAD
	epoch   int64
	ids     []uint32 // oldest first
	primary uint32
	closed  []uint32
	roots   []string
}

func (r *ring) holdsKey(id uint32) bool { return slices.Contains(r.ids, id) }

// mayWrite reports whether values under a key may still be written.
func (r *ring) mayWrite(id uint32) bool { return r.holdsKey(id) && !slices.Contains(r.closed, id) }

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
	r := &ring{aead: a, primary: h.KeysetInfo().GetPrimaryKeyId(), closed: m.Closed}
	for _, key := range h.KeysetInfo().GetKeyInfo() {
		r.ids = append(r.ids, key.GetKeyId())
	}
	if slices.Contains(r.closed, r.primary) {
		return nil, errKeyset
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

// NewRing makes the ring of a new installation, wrapped by its first root.
func NewRing(root *Root, now time.Time) (WrappedRing, error) {
	w := WrappedRing{Installation: "i_" + rand.Text(), Epoch: 1}
	m, err := newMaterial()
	if err != nil {
		return w, err
	}
	defer m.wipeSecrets()
	key := newSecret()
	defer clear(key)
	if err := w.sealBody(m, key); err != nil {
		return w, err
	}
	wrapped, err := root.wrapKey(key, w.Installation)
	if !root.made { // it came from elsewhere
		wrapped.CopiedAt = now.UnixMicro()
	}
	w.Roots = []WrappedKey{wrapped}
	return w, err
}

// OpenRing opens a ring by one of its roots.
func OpenRing(root *Root, w WrappedRing) (*Keys, error) {
	k := &Keys{root: root, installation: w.Installation}
	m, key, err := k.openMaterial(w)
	if err != nil {
		return nil, err
	}
	defer m.wipeSecrets()
	r, err := m.buildRing()
	if err != nil {
		return nil, ErrRingBroken.Because(err)
	}
	k.index, k.macs = newDeriver(m.Index.Key, labelIndex), newDeriver(m.MAC.Key, labelMAC)
	k.bind, k.match = m.bindingKey(), newMatcher(m.Match.Key)
	k.ringKey = key
	k.setRing(r, w)
	return k, nil
}

// openMaterial opens the secrets of a ring, by the key of the ring that is known, or else by the root.
func (k *Keys) openMaterial(w WrappedRing) (m *material, key []byte, err error) {
	if k.ringKey != nil {
		if m, err := w.openBody(k.ringKey); err == nil {
			return m, k.ringKey, nil
		}
	}
	wrapped, has := w.FindRoot(k.root.id)
	if !has {
		return nil, nil, ErrWrongRoot.Note(
			"the keys of this database open under the root %s; the root given is %s (%+q): name the right one with "+
				"--key-file or --kms",
			strings.Join(w.RootIDs(), " or "),
			k.root.id,
			k.root.place,
		)
	}
	if key, err = k.root.unwrapKey(wrapped, w.Installation); err != nil {
		return nil, nil, err
	}
	m, err = w.openBody(key)
	return m, key, err
}

// setRing takes a ring up. The caller holds the lock or is alone.
func (k *Keys) setRing(r *ring, w WrappedRing) {
	r.epoch, r.roots = w.Epoch, w.RootIDs()
	for _, id := range r.ids {
		k.sealedBy.Store(id, struct{}{})
	}
	k.strange.Clear()
	k.ring.Store(r)
	k.noteLook()
}

// AdoptRing takes up a later state of the ring and reports whether there was one. An earlier state is refused: a
// database that was put back to an older day under a running process holds less than this process relies on.
func (k *Keys) AdoptRing(w WrappedRing) (changed bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch was := k.ring.Load(); {
	case w.Installation != k.installation:
		return false, ErrWrongKeys.Note("the database under this process now holds the ring of another installation")
	case w.Epoch == was.epoch:
		return false, nil
	case w.Epoch < was.epoch:
		return false, ErrOldRing.Note(
			"the database holds epoch %d of its keys, and this process has seen %d: was it put back to an older day? "+
				"Restart every server on it",
			w.Epoch,
			was.epoch,
		)
	}
	m, key, err := k.openMaterial(w)
	if err != nil {
		return false, err
	}
	defer m.wipeSecrets()
	if bind := m.bindingKey(); subtle.ConstantTimeCompare(bind[:], k.bind[:]) != 1 {
		return false, ErrWrongKeys
	}
	r, err := m.buildRing()
	if err != nil {
		return false, ErrRingBroken.Because(err)
	}
	k.ringKey = key
	k.setRing(r, w)
	return true, nil
}

// changeRing returns the next state of a ring, to be committed where w was read; AdoptRing follows. change may replace
// the key of the ring.
func (k *Keys) changeRing(
	w WrappedRing,
	change func(w *WrappedRing, m *material, key *[]byte) error,
) (WrappedRing, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	m, key, err := k.openMaterial(w)
	if err != nil {
		return w, err
	}
	defer m.wipeSecrets()
	w.Epoch += epochStep()
	if err := change(&w, m, &key); err != nil {
		return w, err
	}
	return w, w.sealBody(m, key)
}

// epochStep returns by how much an epoch grows. It is random, so that the states of a ring before and after a database
// was put back to an older day never have one epoch.
func epochStep() int64 {
	var step [4]byte
	_, _ = rand.Read(step[:]) // never fails: crypto/rand ends the program instead
	return 1 + int64(binary.LittleEndian.Uint32(step[:]))
}

// changeKeyset changes the keys of a ring's material.
func (m *material) changeKeyset(change func(*keyset.Manager) error) error {
	h, err := m.openKeyset()
	if err != nil {
		return ErrRingBroken.Because(err)
	}
	manager := keyset.NewManagerFromHandle(h)
	if err := change(manager); err != nil {
		return err
	}
	if h, err = manager.Handle(); err != nil {
		return ErrRingBroken.Because(err)
	}
	return m.setHandle(h)
}

// KindRewrite is the kind of the job that seals anew, after a rotation, what older keys have sealed.
const KindRewrite = "keys.rewrite"

// RotateRing adds a new key, which seals from then on, and returns its id. Old keys go on opening. Indexes,
// fingerprints and MACs do not change.
func (k *Keys) RotateRing(w WrappedRing) (next WrappedRing, id uint32, err error) {
	next, err = k.changeRing(w, func(_ *WrappedRing, m *material, _ *[]byte) error {
		return m.changeKeyset(func(manager *keyset.Manager) (err error) {
			if id, err = manager.Add(keyTemplate()); err != nil {
				return err
			}
			return manager.SetPrimary(id)
		})
	})
	return next, id, err
}

// CloseOldKeys forbids to write anything under other keys than the one that seals now. They go on opening.
func (k *Keys) CloseOldKeys(w WrappedRing) (WrappedRing, error) {
	return k.changeRing(w, func(_ *WrappedRing, m *material, _ *[]byte) error {
		r, err := m.buildRing()
		if err != nil {
			return ErrRingBroken.Because(err)
		}
		m.Closed = slices.DeleteFunc(r.ids, func(id uint32) bool { return id == r.primary })
		return nil
	})
}

// DropClosedKeys removes the closed keys for good: what is still sealed under them is lost. The caller has counted that
// nothing is, and knows that nothing can be.
func (k *Keys) DropClosedKeys(w WrappedRing) (WrappedRing, error) {
	return k.changeRing(w, func(_ *WrappedRing, m *material, _ *[]byte) error {
		err := m.changeKeyset(func(manager *keyset.Manager) error {
			for _, id := range m.Closed {
				if err := manager.Delete(id); err != nil {
					return ErrRingBroken.Because(err)
				}
			}
			return nil
		})
		m.Closed = nil
		return err
	})
}

// AddRoot lets another root open the ring too.
func (k *Keys) AddRoot(w WrappedRing, root *Root, now time.Time) (WrappedRing, error) {
	if _, has := w.FindRoot(root.id); has {
		return w, ErrRootLive.Note("the root %s opens the ring already", root.id)
	}
	return k.changeRing(w, func(w *WrappedRing, _ *material, key *[]byte) error {
		wrapped, err := root.wrapKey(*key, w.Installation)
		if !root.made {
			wrapped.CopiedAt = now.UnixMicro()
		}
		w.Roots = append(slices.Clone(w.Roots), wrapped)
		return err
	})
}

// DropOtherRoots leaves the root of this process as the only one. The ring gets a new key of its own, so that who holds
// an old root and an old copy of the database cannot open what comes after.
func (k *Keys) DropOtherRoots(w WrappedRing) (WrappedRing, error) {
	return k.changeRing(w, func(w *WrappedRing, _ *material, key *[]byte) error {
		was, _ := w.FindRoot(k.root.id)
		*key = newSecret()
		wrapped, err := k.root.wrapKey(*key, w.Installation)
		wrapped.CopiedAt = was.CopiedAt
		w.Roots = []WrappedKey{wrapped}
		return err
	})
}

// NoteCopy notes that somebody has shown a copy of a root. It fails for one that does not open the ring.
func (k *Keys) NoteCopy(w WrappedRing, root *Root, now time.Time) (WrappedRing, error) {
	wrapped, has := w.FindRoot(root.id)
	if !has {
		return w, ErrWrongRoot.Note(
			"%+q holds the root %s, which does not open the keys of this database; it is %s that does",
			root.place,
			root.id,
			strings.Join(w.RootIDs(), " or "),
		)
	}
	if _, err := root.unwrapKey(wrapped, w.Installation); err != nil {
		return w, err
	}
	return k.changeRing(w, func(w *WrappedRing, _ *material, _ *[]byte) error {
		w.Roots = slices.Clone(w.Roots)
		for i := range w.Roots {
			if w.Roots[i].Root == root.id {
				w.Roots[i].CopiedAt = now.UnixMicro()
			}
		}
		return nil
	})
}

// began is when this process began, on the clock that runs on while it is stopped.
var began = time.Now()

// staleAfter is how old a look at the ring may be before something is sealed. A server looks each second.
const staleAfter = 5 * time.Second

// noteLook notes that this process has just looked at the ring.
func (k *Keys) noteLook() { k.looked.Store(int64(time.Since(began))) }

// IsCurrent reports whether this process has the state of the ring that the database has just named.
func (k *Keys) IsCurrent(epoch int64) bool {
	if epoch != k.Epoch() {
		return false
	}
	k.noteLook()
	return true
}

// lookAgain looks at the ring, as one for all who wait. When the database does not answer it is tried again later:
// nothing can be written meanwhile, and what is written then is checked in its transaction.
func (k *Keys) lookAgain() {
	was := k.looked.Load()
	k.reload.Lock()
	defer k.reload.Unlock()
	if k.looked.Load() != was {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), reloadTime)
	defer cancel()
	if w, err := k.read(ctx); err == nil {
		_, _ = k.AdoptRing(w) // a ring that cannot be opened refuses the transaction
	}
	k.noteLook()
}

// reloadPause is the shortest time between two looks for a key that this process does not know: a request can name any
// key, and must not make the database work more than that.
const reloadPause = 100 * time.Millisecond

// mostStrange bounds how many unknown keys are remembered.
const mostStrange = 1024

// FollowBy says where the ring is read again when a value comes under a key that this process does not know.
func (k *Keys) FollowBy(read func(ctx context.Context) (WrappedRing, error)) { k.read = read }

// findKey returns a ring that holds the key, read again if needed.
func (k *Keys) findKey(id uint32) (*ring, error) {
	r := k.ring.Load()
	if r.holdsKey(id) {
		return r, nil
	}
	if _, known := k.strange.Load(id); known || k.read == nil {
		return nil, unknownKey(id)
	}
	k.reload.Lock() // one asks for all who wait
	defer k.reload.Unlock()
	if r = k.ring.Load(); r.holdsKey(id) {
		return r, nil
	}
	if _, known := k.strange.Load(id); known {
		return nil, unknownKey(id)
	}
	time.Sleep(reloadPause - time.Since(k.reloaded))
	ctx, cancel := context.WithTimeout(context.Background(), reloadTime)
	defer cancel()
	w, err := k.read(ctx)
	k.reloaded = time.Now()
	if err == nil {
		_, err = k.AdoptRing(w)
	}
	if err != nil {
		return nil, ErrRingUnread.Because(err)
	}
	if r = k.ring.Load(); r.holdsKey(id) {
		return r, nil
	}
	if k.stranger++; k.stranger > mostStrange {
		k.strange.Clear()
		k.stranger = 0
	}
	k.strange.Store(id, struct{}{})
	return nil, unknownKey(id)
}

// reloadTime bounds a look for a key.
const reloadTime = 5 * time.Second

// unknownKey is the cause of a value whose key nobody has.
func unknownKey(id uint32) error {
	return ErrSealBroken.Because(fmt.Errorf("sealed under key %08x, which is not in the ring", id))
}

// Faults of the ring.
var (
	// ErrRingBroken is a ring that does not open although the root is the right one.
	ErrRingBroken = fault.New(fault.Internal, "seal.ring_broken")
	// ErrRingUnread is a ring that could not be read again.
	ErrRingUnread = fault.New(fault.Unavailable, "seal.ring_unread")
	// ErrWrongRoot is a root that does not open the ring of the database.
	ErrWrongRoot = fault.New(fault.Internal, "seal.wrong_root")
	// ErrOldRing is a ring older than one that this process has seen.
	ErrOldRing = fault.New(fault.Internal, "seal.old_ring")
	// ErrRootLive is a root that opens the ring already.
	ErrRootLive = fault.New(fault.Conflict, "seal.root_live")
	// ErrRingMoved means that a transaction wrote under a ring that has changed meanwhile: it is to be repeated.
	ErrRingMoved = fault.New(fault.Unavailable, "seal.ring_moved")
	// ErrKeyClosed means that a value was sealed under a key that has been closed or dropped before it was written.
	ErrKeyClosed = fault.New(fault.Unavailable, "seal.key_closed")
)

// SealedByUs reports whether bytes are a value that this process may have sealed, and under which key.
func (k *Keys) SealedByUs(value []byte) (id uint32, ok bool) {
	if id, ok = SealedWith(value); ok {
		_, ok = k.sealedBy.Load(id)
	}
	return id, ok
}

// CheckWritten says whether values under these keys may be committed, given the epoch that the transaction sees.
func (k *Keys) CheckWritten(ids []uint32, epoch int64) error {
	r := k.ring.Load()
	if r.epoch != epoch {
		return ErrRingMoved
	}
	for _, id := range ids {
		if !r.mayWrite(id) {
			return ErrKeyClosed.Because(fmt.Errorf("key %08x", id))
		}
	}
	return nil
}

// Epoch returns which state of the ring this process has.
func (k *Keys) Epoch() int64 { return k.ring.Load().epoch }

// Root returns the root that opened the ring.
func (k *Keys) Root() *Root { return k.root }

// Roots returns the ids of the roots that open the ring.
func (k *Keys) Roots() []string { return slices.Clone(k.ring.Load().roots) }

// ClosedIDs returns the keys under which nothing is written any more.
func (k *Keys) ClosedIDs() []uint32 { return slices.Clone(k.ring.Load().closed) }

// Installation returns the name that all states of the ring have in common.
func (k *Keys) Installation() string { return k.installation }
