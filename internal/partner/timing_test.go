package partner

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"math"
	mrand "math/rand/v2"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// oneKey is a database that answers every look-up with the same key, or with none.
type oneKey struct {
	Store
	key     *Key
	lookups atomic.Int64
}

func (o *oneKey) KeyByDigest(context.Context, []byte) (Key, Partner, error) {
	o.lookups.Add(1)
	if o.key == nil {
		return Key{}, Partner{}, ErrKeyNotFound
	}
	return *o.key, Partner{}, nil
}

func someKey(t *testing.T) (Key, string) {
	t.Helper()
	k, text, err := NewRegistry(nil, time.Now, rand.Reader).generateKey(Partner{}, "", ContractScopes(), time.Time{}, "")
	if err != nil {
		t.Fatal(err)
	}
	return k, text
}

// TestKeysAreComparedAlike: a key that does not exist and one whose digest differs late cost the same questions to the
// database and are answered with the same error. TestKeyTiming measures the comparison itself in a long run.
func TestKeysAreComparedAlike(t *testing.T) {
	known, text := someKey(t)
	near := known
	near.Digest = slices.Clone(known.Digest)
	near.Digest[len(near.Digest)-1] ^= 1
	dead := known
	dead.RevokedAt = time.Now()
	cases := map[string]*Key{"unknown": nil, "last byte differs": &near, "revoked": &dead}
	for what, stored := range cases {
		store := &oneKey{key: stored}
		caller, err := NewKeyGate(store, time.Now).Authenticate(context.Background(), text, ScopeCyber)
		isVeryError := err == error(ErrUnauthorised) //nolint:errorlint // the very same value, not one that wraps it
		if !isVeryError || caller != (Caller{}) || store.lookups.Load() != 1 {
			t.Errorf("%s: %v, %d look-ups", what, err, store.lookups.Load())
		}
	}
	if _, err := NewKeyGate(&oneKey{key: &known}, time.Now).Authenticate(context.Background(), text, ScopeCyber); err != nil {
		t.Error("the key itself:", err)
	}
}

// earlyExit is the comparison that gives a secret away byte by byte.
func earlyExit(a, b []byte) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}

const (
	pairs = 20_000
	batch = 10 // calls per measurement: the clock is coarser than one
)

// difference measures call(0) and call(1) in pairs of random order and returns the median difference of one call, in
// nanoseconds. They are one function, so that nothing differs but what it is given.
func difference(call func(which int)) float64 {
	measure := func(which int) float64 {
		start := time.Now()
		for range batch {
			call(which)
		}
		return float64(time.Since(start)) / batch
	}
	diffs := make([]float64, pairs)
	for i := range diffs {
		if mrand.IntN(2) == 0 {
			a := measure(0)
			diffs[i] = measure(1) - a
		} else {
			b := measure(1)
			diffs[i] = b - measure(0)
		}
	}
	slices.Sort(diffs)
	return diffs[pairs/2]
}

// TestKeyTiming: in 200,000 comparisons of each kind, the time does not tell how early two digests differ. The same
// measurement does tell it of a comparison that stops at the first difference, and that is the scale: an early exit
// over 32 bytes is some 20 ns, so a bar in nanoseconds would let it pass. It runs at full size only, because a busy
// machine makes it uncertain.
func TestKeyTiming(t *testing.T) {
	if os.Getenv("VIGIA_TEST_LONG") == "" {
		return
	}
	sum := sha256.Sum256([]byte("digest"))
	inputs := [2][]byte{slices.Clone(sum[:]), slices.Clone(sum[:])}
	inputs[0][0] ^= 1
	inputs[1][len(sum)-1] ^= 1
	k := Key{Digest: sum[:]}
	var sink atomic.Int64
	use := func(equal bool) {
		if equal {
			sink.Add(1)
		}
	}
	ours := difference(func(which int) { use(k.matchesDigest(inputs[which])) })
	naive := difference(func(which int) { use(earlyExit(sum[:], inputs[which])) })
	t.Logf("first against last byte: median difference %.1f ns; with an early exit %.1f ns", ours, naive)
	if naive < 4 {
		t.Errorf("an early exit is not noticed (%.1f ns): this proves nothing", naive)
	}
	if math.Abs(ours) > naive/4 {
		t.Errorf("the time tells how early digests differ: %.1f ns", ours)
	}

	known, text := someKey(t)
	known.Digest[len(known.Digest)-1] ^= 1
	gates := [2]*Gate{NewKeyGate(&oneKey{}, time.Now), NewKeyGate(&oneKey{key: &known}, time.Now)}
	whole := difference(func(which int) {
		_, err := gates[which].Authenticate(context.Background(), text, ScopeCyber)
		use(err == nil)
	})
	t.Logf("unknown key against a wrong one, whole gate without the database: median difference %.0f ns", whole)
	if math.Abs(whole) > 20_000 {
		t.Errorf("a key that is nobody's differs by %.0f ns from one that is wrong", whole)
	}
}
