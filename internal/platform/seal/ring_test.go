package seal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestRotationKeepsOldValuesReadable(t *testing.T) {
	k := fresh(t)
	var sealed [][]byte
	for i := range 5 {
		if i > 0 {
			mustRotate(t, k)
		}
		if len(k.ListKeyIDs()) != i+1 || k.PrimaryID() != k.ListKeyIDs()[i] {
			t.Fatalf("after %d rotations: keys %08x, primary %08x", i, k.ListKeyIDs(), k.PrimaryID())
		}
		s := mustSeal(t, k, home, fmt.Sprint("value ", i))
		if id, _ := SealedWith(s); id != k.PrimaryID() {
			t.Errorf("sealed under %08x, the primary is %08x", id, k.PrimaryID())
		}
		sealed = append(sealed, s)
	}
	again := reopen(t, k)
	for i, s := range sealed {
		mustUnseal(t, k, home, s, fmt.Sprint("value ", i))
		mustUnseal(t, again, home, s, fmt.Sprint("value ", i))
	}
	if !slices.Equal(again.ListKeyIDs(), k.ListKeyIDs()) || again.PrimaryID() != k.PrimaryID() {
		t.Error("the ring and the memory differ")
	}
}

// TestDropClosesFirst: a closed key opens and may not be written under; a dropped one does neither.
func TestDropClosesFirst(t *testing.T) {
	k := fresh(t)
	first := k.PrimaryID()
	old := mustSeal(t, k, home, "old")
	mustRotate(t, k)
	now := mustSeal(t, k, home, "now")
	written := func(value []byte, want error) {
		t.Helper()
		id, ours := k.SealedByUs(value)
		if err := k.CheckWritten([]uint32{id}, k.Epoch()); !ours || !errors.Is(err, want) {
			t.Errorf("ours %v, %v; want %v", ours, err, want)
		}
	}
	written(old, nil)
	if err := commit(k, k.CloseOldKeys); err != nil {
		t.Fatal(err)
	}
	written(old, ErrKeyClosed)
	written(now, nil)
	mustUnseal(t, k, home, old, "old")
	if err := commit(k, k.DropClosedKeys); err != nil {
		t.Fatal(err)
	}
	written(old, ErrKeyClosed)
	for _, same := range []*Keys{k, reopen(t, k)} {
		if slices.Contains(same.ListKeyIDs(), first) || len(same.ClosedIDs()) != 0 {
			t.Error("the key is still there")
		}
		if _, err := same.Unseal(home, old); !errors.Is(err, ErrSealBroken) {
			t.Errorf("a value under the dropped key: %v", err)
		}
		mustUnseal(t, same, home, now, "now")
	}
}

// TestRotationReachesOthers: another process takes a rotation up, and has it asked for when it meets the new key first.
func TestRotationReachesOthers(t *testing.T) {
	cli := fresh(t)
	server := reopen(t, cli)
	mustRotate(t, cli)
	if err := server.CheckWritten(nil, storeOf(cli).ring.Epoch); !errors.Is(err, ErrRingMoved) {
		t.Errorf("a server that has not heard of the rotation may write: %v", err)
	}
	mustUnseal(t, server, home, mustSeal(t, cli, home, "new"), "new")
	if server.PrimaryID() != cli.PrimaryID() {
		t.Error("the server seals under the old key")
	}
	mustDrop(t, cli)
	if changed, err := server.AdoptRing(storeOf(cli).ring); err != nil || !changed {
		t.Errorf("%v, %v", changed, err)
	}
	if changed, err := server.AdoptRing(storeOf(cli).ring); err != nil || changed {
		t.Errorf("the same state again: %v, %v", changed, err)
	}
	if len(server.ListKeyIDs()) != 1 {
		t.Errorf("the server holds %08x", server.ListKeyIDs())
	}
}

// TestSealLooksAgain: a process that was stopped looks at the ring before it seals anything, once.
func TestSealLooksAgain(t *testing.T) {
	cli := fresh(t)
	stopped := reopen(t, cli)
	mustRotate(t, cli)
	mustDrop(t, cli)
	stopped.looked.Store(int64(time.Since(began) - staleAfter - time.Second))
	before := storeOf(cli).reads
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if sealed, err := stopped.Seal(home, []byte("x")); err != nil {
				t.Error(err)
			} else if id, _ := SealedWith(sealed); id != cli.PrimaryID() {
				t.Errorf("sealed under %08x, which has been dropped", id)
			}
		})
	}
	all.Wait()
	if reads := storeOf(cli).reads - before; reads != 1 {
		t.Errorf("the ring was read %d times", reads)
	}
}

// TestUnknownKeysAreAskedForOnce: values under keys that nobody has, which a request may bring, are no load for the
// database.
func TestUnknownKeysAreAskedForOnce(t *testing.T) {
	k := fresh(t)
	foreign := mustSeal(t, fresh(t), home, "x")
	for range 10 {
		if _, err := k.Unseal(home, foreign); !errors.Is(err, ErrSealBroken) {
			t.Fatal(err)
		}
	}
	if reads := storeOf(k).reads; reads != 1 {
		t.Errorf("the ring was read %d times", reads)
	}
	mustRotate(t, k) // and then it might be there
	if _, err := k.Unseal(home, foreign); !errors.Is(err, ErrSealBroken) {
		t.Fatal(err)
	}
	if reads := storeOf(k).reads; reads != 2 {
		t.Errorf("the ring was read %d times", reads)
	}
}

// TestAdoptRefuses: whatever the database holds, a running server keeps the keys it has.
func TestAdoptRefuses(t *testing.T) {
	k := fresh(t)
	first := storeOf(k).ring
	mustRotate(t, k)
	sealed := mustSeal(t, k, home, "x")
	w := storeOf(k).ring
	foreign := storeOf(fresh(t)).ring
	for name, c := range map[string]struct {
		change func(*WrappedRing)
		want   error
	}{
		"an older state":        {func(w *WrappedRing) { *w = first }, ErrOldRing},
		"another installation":  {func(w *WrappedRing) { *w = foreign }, ErrWrongKeys},
		"another epoch":         {func(w *WrappedRing) { w.Epoch++ }, ErrRingBroken},
		"another's body":        {func(w *WrappedRing) { w.Body, w.Epoch = foreign.Body, w.Epoch+1 }, ErrRingBroken},
		"nobody's body":         {func(w *WrappedRing) { w.Body, w.Epoch = nil, w.Epoch+1 }, ErrRingBroken},
		"another's body, root":  {func(w *WrappedRing) { w.Body, w.Roots, w.Epoch = foreign.Body, foreign.Roots, w.Epoch+1 }, ErrWrongRoot},
		"the key of another":    {func(w *WrappedRing) { w.Body, w.Roots, w.Epoch = nil, mixRoots(w.Roots, foreign.Roots), w.Epoch+1 }, ErrRingBroken},
		"a cut key of the ring": {func(w *WrappedRing) { w.Body, w.Roots, w.Epoch = nil, mixRoots(w.Roots, nil), w.Epoch+1 }, ErrRingBroken},
	} {
		t.Run(name, func(t *testing.T) {
			bad := w
			c.change(&bad)
			if changed, err := k.AdoptRing(bad); changed || !errors.Is(err, c.want) {
				t.Errorf("%v, %v; want %v", changed, err, c.want)
			}
			mustUnseal(t, k, home, sealed, "x")
			if len(k.ListKeyIDs()) != 2 {
				t.Errorf("keys %08x", k.ListKeyIDs())
			}
		})
	}
}

// mixRoots puts the wrapped key of another ring, or none, under the root of this one.
func mixRoots(own, other []WrappedKey) []WrappedKey {
	mixed := slices.Clone(own)
	mixed[0].Wrapped = nil
	if other != nil {
		mixed[0].Wrapped = other[0].Wrapped
	}
	return mixed
}

// TestRootsChange: both roots open the ring until the old one is dropped, and then the old one opens nothing that came
// after, not even with a copy of the ring's former key.
func TestRootsChange(t *testing.T) {
	k := fresh(t)
	sealed := mustSeal(t, k, home, "x")
	next := newRoot(t)
	if _, err := OpenRing(next, storeOf(k).ring); !errors.Is(err, ErrWrongRoot) ||
		!strings.Contains(err.Error(), k.root.ID()) || !strings.Contains(err.Error(), next.Place()) {
		t.Fatalf("a root that is not in: %v", err)
	}
	if err := commit(k, func(w WrappedRing) (WrappedRing, error) { return k.AddRoot(w, next, time.Now()) }); err != nil {
		t.Fatal(err)
	}
	if err := commit(
		k,
		func(w WrappedRing) (WrappedRing, error) { return k.AddRoot(w, next, time.Now()) },
	); !errors.Is(err, ErrRootLive) {
		t.Errorf("the same root twice: %v", err)
	}
	moved := open(t, next, storeOf(k))
	mustUnseal(t, moved, home, sealed, "x")
	mustUnseal(t, reopen(t, k), home, sealed, "x")
	mustRotate(t, k)
	mustUnseal(t, moved, home, mustSeal(t, k, home, "y"), "y")
	formerKey := bytes.Clone(k.ringKey)
	if err := commit(moved, moved.DropOtherRoots); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenRing(k.root, storeOf(k).ring); !errors.Is(err, ErrWrongRoot) {
		t.Errorf("the dropped root: %v", err)
	}
	if _, err := k.AdoptRing(storeOf(k).ring); !errors.Is(err, ErrWrongRoot) {
		t.Errorf("a server with the dropped root: %v", err)
	}
	if _, err := storeOf(k).ring.openBody(formerKey); !errors.Is(err, ErrRingBroken) {
		t.Errorf("the former key of the ring: %v", err)
	}
	mustUnseal(t, reopen(t, moved), home, sealed, "x")
}

// TestNoteCopy: what was made by a start counts as copied once somebody has shown the copy.
func TestNoteCopy(t *testing.T) {
	k := fresh(t)
	copied := func() bool { own, _ := storeOf(k).ring.FindRoot(k.root.ID()); return own.CopiedAt != 0 }
	note := func(root *Root) error {
		return commit(k, func(w WrappedRing) (WrappedRing, error) { return k.NoteCopy(w, root, time.Now()) })
	}
	if copied() {
		t.Fatal("nobody has shown a copy yet")
	}
	if err := note(newRoot(t)); !errors.Is(err, ErrWrongRoot) || copied() {
		t.Errorf("another root: %v", err)
	}
	same, err := OpenRoot(k.root.place)
	if err != nil {
		t.Fatal(err)
	}
	if err := note(same); err != nil || !copied() {
		t.Errorf("%v", err)
	}
	if w, err := NewRing(same, time.Now()); err != nil || w.Roots[0].CopiedAt == 0 {
		t.Errorf("a root that came from elsewhere: %v", err)
	}
}

// TestRingGivesNothingAway: what a database and a backup hold of the keys shows none of them.
func TestRingGivesNothingAway(t *testing.T) {
	k := fresh(t)
	mustRotate(t, k)
	raw, err := json.Marshal(storeOf(k).ring)
	if err != nil {
		t.Fatal(err)
	}
	m, key, err := k.openMaterial(storeOf(k).ring)
	if err != nil {
		t.Fatal(err)
	}
	secrets := [][]byte{key, m.Index.Key, m.Match.Key, m.MAC.Key}
	for _, s := range secrets {
		assertAbsent(t, raw, s)
		assertAbsent(t, storeOf(k).ring.Body, s)
	}
	seen := map[string]bool{}
	other, _, err := fresh(t).openMaterial(storeOf(k).ring)
	if err == nil || other != nil {
		t.Error("another root opens it")
	}
	for _, s := range secrets {
		seen[string(s)] = true
	}
	if len(seen) != len(secrets) {
		t.Error("two secrets are equal")
	}
}

// assertAbsent looks for a secret as it is and as JSON writes bytes.
func assertAbsent(t *testing.T, in, secret []byte) {
	t.Helper()
	text, err := json.Marshal(secret)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(in, secret) || bytes.Contains(in, bytes.Trim(text, `"`)) {
		t.Error("a secret is in the clear")
	}
}

// Everything at once, in two processes on one ring; the race detector watches.
func TestConcurrentUse(t *testing.T) {
	cli := fresh(t)
	server := reopen(t, cli)
	index := server.BlindIndex("cpf", "p1", []byte("52998224725"))
	mark := server.Fingerprint('e', []byte("maria@exemplo.com.br"))
	stop := make(chan struct{})
	var users, rotators sync.WaitGroup
	for g := range 4 {
		users.Go(func() {
			at := Place{"asset", "value", "p", strconv.Itoa(g)}
			for {
				select {
				case <-stop:
					return
				default:
				}
				from, to := cli, server
				if g%2 == 0 {
					from, to = server, cli
				}
				sealed, err := from.Seal(at, []byte("x"))
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := to.Unseal(at, sealed); err != nil {
					t.Error(err)
					return
				}
				if !bytes.Equal(to.BlindIndex("cpf", "p1", []byte("52998224725")), index) ||
					to.Fingerprint('e', []byte("maria@exemplo.com.br")) != mark {
					t.Error("a keyed value changed")
					return
				}
				to.BlindIndex("field "+strconv.Itoa(g), "p1", nil)
				to.MAC("purpose "+strconv.Itoa(g), at.encodePlace())
				to.ListKeyIDs()
			}
		})
	}
	for range 20 {
		rotators.Go(func() {
			s := storeOf(cli)
			s.mu.Lock()
			next, _, err := cli.RotateRing(s.ring)
			if err == nil {
				s.ring = next
				_, err = cli.AdoptRing(next)
			}
			s.mu.Unlock()
			if err != nil {
				t.Error(err)
			}
		})
	}
	rotators.Wait()
	close(stop)
	users.Wait()
	if n := len(cli.ListKeyIDs()); n != 21 {
		t.Errorf("%d keys after 20 rotations", n)
	}
}

// TestHistoriesNeverShareAnEpoch: a process that has seen one history of a database is not taken in by another, in which
// as many changes were made after the database was put back to an older day.
func TestHistoriesNeverShareAnEpoch(t *testing.T) {
	k := fresh(t)
	w := storeOf(k).ring
	one, _, err := k.RotateRing(w)
	if err != nil {
		t.Fatal(err)
	}
	other, _, err := k.RotateRing(w)
	if err != nil || one.Epoch == other.Epoch || one.Epoch <= w.Epoch || other.Epoch <= w.Epoch {
		t.Errorf("from epoch %d to %d and %d, %v", w.Epoch, one.Epoch, other.Epoch, err)
	}
}
