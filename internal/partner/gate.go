package partner

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"time"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Caller is who sent a request.
type Caller struct {
	Partner  ID
	Mode     Mode
	Settings Settings
	KeyID    KeyID
	// Line is what the key's idempotency claims are kept under.
	Line KeyID
	// Epoch is the access epoch that the key was found under, 0 where nothing remembered may be relied on. What was
	// read of the partner's set-up for a caller of the same epoch holds for this one.
	Epoch int64
	key   *Key
}

// HasScope reports whether the key that was shown covers need.
func (c Caller) HasScope(need Scope) bool { return c.key != nil && c.key.HasScope(need) }

// Gate checks API keys. It remembers the keys it has seen, so that a request does not cost a database look-up, and
// forgets all of them when the access epoch moves: WatchChanges polls it, so a revocation acts within two seconds on
// every replica. When the epoch cannot be read the memory is not trusted.
type Gate struct {
	store Store
	now   func() time.Time

	mu sync.RWMutex
	// known is by the digests of keys.
	known map[[sha256.Size]byte]*entry
	epoch int64
	// trustedUntil ends the validity of known unless a poll of the epoch renews it.
	trustedUntil time.Time
}

// entry is shared by requests and never changed.
type entry struct {
	key     Key
	partner Partner
}

const (
	pollInterval = 500 * time.Millisecond
	trustFor     = 1500 * time.Millisecond
	// maxKnown bounds the memory; beyond it the whole memory starts over. Only well-formed keys that exist are kept.
	maxKnown = 100_000
)

// NewKeyGate makes a gate; its memory is used only while WatchChanges runs.
func NewKeyGate(store Store, now func() time.Time) *Gate {
	return &Gate{store: store, now: now, known: map[[sha256.Size]byte]*entry{}}
}

// WatchChanges keeps the gate's memory honest until ctx ends.
func (g *Gate) WatchChanges(ctx context.Context) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		g.RefreshMemory(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// RefreshMemory is one look of WatchChanges: whether what is remembered still counts.
func (g *Gate) RefreshMemory(ctx context.Context) {
	asked := g.now() // trust runs from before the question, so a slow answer does not stretch it
	ctx, cancel := context.WithTimeout(ctx, trustFor)
	defer cancel()
	epoch, err := g.store.AccessEpoch(ctx)
	if err != nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if epoch != g.epoch {
		clear(g.known)
		g.epoch = epoch
	}
	g.trustedUntil = asked.Add(trustFor)
}

// Authenticate says who presents key, if it is live and covers need. A live key of a partner that is not suspended but
// lacks the scope returns the caller with ErrScopeMissing: the partner may know what its own key lacks. Every other
// failure is ErrUnauthorised, whatever its cause; only a database that does not answer is another error.
func (g *Gate) Authenticate(ctx context.Context, key string, need Scope) (Caller, error) {
	now := g.now()
	e, epoch, err := g.findKeyByText(ctx, key, now)
	if err != nil {
		return Caller{}, err
	}
	if !e.key.IsLiveAt(now) || e.partner.Suspended {
		return Caller{}, ErrUnauthorised
	}
	caller := Caller{
		Partner:  e.partner.ID,
		Mode:     e.partner.Mode,
		Settings: e.partner.Settings,
		KeyID:    e.key.ID,
		Line:     e.key.Line,
		Epoch:    epoch,
		key:      &e.key,
	}
	if !e.key.HasScope(need) {
		return caller, ErrScopeMissing.With("x-api-key", fault.ScopeMissing, need.Describe())
	}
	return caller, nil
}

// findKeyByText answers from memory, if it is to be trusted, else from the database. Only what comes from memory has an
// epoch.
func (g *Gate) findKeyByText(ctx context.Context, key string, now time.Time) (*entry, int64, error) {
	if !WellFormed(key) {
		return nil, 0, ErrUnauthorised
	}
	digest := sha256.Sum256([]byte(key))
	g.mu.RLock()
	e, ok := g.known[digest]
	epoch, trusted := g.epoch, now.Before(g.trustedUntil)
	g.mu.RUnlock()
	if ok && trusted {
		return e, epoch, nil
	}
	e, err := g.loadKeyFromStore(ctx, digest)
	if err != nil {
		return nil, 0, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	// An epoch that moved while the database answered may have revoked what was read.
	if g.epoch == epoch {
		if len(g.known) >= maxKnown {
			clear(g.known)
		}
		g.known[digest] = e
	}
	return e, 0, nil
}

// loadKeyFromStore asks the database for the key with this digest.
func (g *Gate) loadKeyFromStore(ctx context.Context, digest [sha256.Size]byte) (*entry, error) {
	key, p, err := g.store.KeyByDigest(ctx, digest[:])
	if errors.Is(err, ErrKeyNotFound) {
		// The same comparison as for a known key, so that the two do not differ in time.
		Key{Digest: make([]byte, sha256.Size)}.matchesDigest(digest[:])
		return nil, ErrUnauthorised
	}
	if err != nil {
		return nil, err
	}
	if !key.matchesDigest(digest[:]) {
		return nil, ErrUnauthorised
	}
	return &entry{key: key, partner: p}, nil
}
