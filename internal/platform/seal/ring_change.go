package seal

import (
	"crypto/rand"
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"github.com/tink-crypto/tink-go/v2/keyset"
)

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
