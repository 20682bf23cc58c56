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

// slowEpoch is a database that takes its time to say that nothing changed.
type slowEpoch struct {
	Store
	answer func()
}

func (s slowEpoch) AccessEpoch(context.Context) (int64, error) {
	s.answer()
	return 1, nil
}

// TestTrustRunsFromTheQuestion: what is remembered counts for trustFor from when the database was asked, not from when
// it answered: otherwise a revoked key would live longer on a slow database.
func TestTrustRunsFromTheQuestion(t *testing.T) {
	asked := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	now := asked
	g := NewKeyGate(slowEpoch{answer: func() { now = now.Add(time.Second) }}, func() time.Time { return now })
	g.RefreshMemory(t.Context())
	if want := asked.Add(trustFor); !g.trustedUntil.Equal(want) {
		t.Errorf("trusted until %s, want %s", g.trustedUntil, want)
	}
}

// TestDayNumber: a day begins at midnight of Brasília, three hours behind UTC.
func TestDayNumber(t *testing.T) {
	for text, want := range map[string]int64{
		"1970-01-01T03:00:00Z": 0,
		"1970-01-02T02:59:59Z": 0,
		"1970-01-02T03:00:00Z": 1,
		"2026-01-31T02:59:59Z": 20_483,
		"2026-01-31T03:00:00Z": 20_484,
	} {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		if got := DayNumber(at); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
		if left := UntilTomorrow(at); DayNumber(at.Add(left)) != want+1 || DayNumber(at.Add(left-1)) != want {
			t.Errorf("%s: the day lasts %s", text, left)
		}
	}
}
