package partner

import (
	"context"
	"crypto/sha256"
	"fmt"
	"testing"
	"time"
)

// lastKey knows the key that it was told of last.
type lastKey struct {
	Store
	digest [sha256.Size]byte
}

func (k *lastKey) KeyByDigest(context.Context, []byte) (Key, Partner, error) {
	return Key{Digest: k.digest[:]}, Partner{}, nil
}

// TestGateMemoryIsBounded: the memory of keys starts over when it is full, and not before.
func TestGateMemoryIsBounded(t *testing.T) {
	store := &lastKey{}
	g := NewKeyGate(store, time.Now)
	ask := func(n int) int {
		t.Helper()
		body := fmt.Sprintf("%s%0*d", livePrefix, secretLen, n)
		store.digest = sha256.Sum256([]byte(body + keyChecksum(body)))
		if _, _, err := g.findKeyByText(t.Context(), body+keyChecksum(body), time.Now()); err != nil {
			t.Fatal(err)
		}
		return len(g.known)
	}
	for n := range uint64(maxKnown - 1) {
		g.known[[32]byte{byte(n), byte(n >> 8), byte(n >> 16)}] = nil
	}
	if n := ask(1); n != maxKnown {
		t.Errorf("%d keys are remembered, want all %d", n, maxKnown)
	}
	if n := ask(2); n != 1 {
		t.Errorf("%d keys are remembered after the memory was full", n)
	}
}
