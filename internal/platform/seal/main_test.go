package seal

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// ringStore keeps a ring as a database does: many processes read it, and a change is made to the state it was read in.
type ringStore struct {
	mu    sync.Mutex
	ring  WrappedRing
	reads int
}

func (s *ringStore) read(context.Context) (WrappedRing, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	return s.ring, nil
}

// stores are those of the keys that tests have opened.
var stores sync.Map // *Keys -> *ringStore

func storeOf(k *Keys) *ringStore {
	s, _ := stores.Load(k)
	of, _ := s.(*ringStore)
	return of
}

// newRoot makes a key file of its own for a test.
func newRoot(t testing.TB) *Root {
	t.Helper()
	root, err := CreateRootFile(filepath.Join(t.TempDir(), "keys.json"))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// fresh makes a ring of its own for a test.
func fresh(t testing.TB) *Keys {
	t.Helper()
	root := newRoot(t)
	w, err := NewRing(root, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return open(t, root, &ringStore{ring: w})
}

// open opens the ring of a store as another process does.
func open(t testing.TB, root *Root, s *ringStore) *Keys {
	t.Helper()
	k, err := OpenRing(root, s.ring)
	if err != nil {
		t.Fatal(err)
	}
	k.FollowBy(s.read)
	stores.Store(k, s)
	t.Cleanup(func() { stores.Delete(k) })
	return k
}

// reopen opens the ring of k anew, by a root that is read from its place again.
func reopen(t testing.TB, k *Keys) *Keys {
	t.Helper()
	root, err := OpenRoot(k.root.place)
	if err != nil {
		t.Fatal(err)
	}
	return open(t, root, storeOf(k))
}

// commit changes the ring where it is kept, and has this process take it up.
func commit(k *Keys, change func(WrappedRing) (WrappedRing, error)) error {
	s := storeOf(k)
	s.mu.Lock()
	next, err := change(s.ring)
	if err == nil {
		s.ring = next
	}
	s.mu.Unlock()
	if err == nil {
		_, err = k.AdoptRing(next)
	}
	return err
}

func rotate(k *Keys) error {
	return commit(k, func(w WrappedRing) (WrappedRing, error) {
		next, _, err := k.RotateRing(w)
		return next, err
	})
}

func mustRotate(t testing.TB, k *Keys) {
	t.Helper()
	if err := rotate(k); err != nil {
		t.Fatal(err)
	}
}

// mustDrop closes and drops all keys but the newest.
func mustDrop(t testing.TB, k *Keys) {
	t.Helper()
	if err := commit(k, k.CloseOldKeys); err != nil {
		t.Fatal(err)
	}
	if err := commit(k, k.DropClosedKeys); err != nil {
		t.Fatal(err)
	}
}

func mustSeal(t testing.TB, k *Keys, at Place, plain string) []byte {
	t.Helper()
	sealed, err := k.Seal(at, []byte(plain))
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func mustUnseal(t testing.TB, k *Keys, at Place, sealed []byte, want string) {
	t.Helper()
	plain, err := k.Unseal(at, sealed)
	if err != nil {
		t.Fatalf("Unseal at %+v: %v", at, err)
	}
	if string(plain) != want {
		t.Fatalf("Unseal at %+v gave another text", at)
	}
}

func writeFile(t testing.TB, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
