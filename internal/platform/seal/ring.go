package seal

import (
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

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
