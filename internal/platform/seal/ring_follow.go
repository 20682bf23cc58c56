package seal

import (
	"context"
	"crypto/subtle"
	"fmt"
	"time"
)

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
