package api

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/vigiahq/vigia/internal/partner"
)

// A refusal is cheap, but a client without backoff asks again at once, and a flood of refusals takes processor time
// from other partners. So each partner gets refusalsAtOnce of them without delay, refusalsPerSecond in the long run,
// and the rest delayed by up to holdMost. A refusal of a large body counts as heavyRefusal: its connection is lost, and
// the system has received much of the body before it could be refused.
const (
	refusalsPerSecond, refusalsAtOnce = 100, 200
	heavyRefusal                      = 10
	holdMost                          = time.Second
	// A held request keeps a connection and its goroutine, as any slow client does; beyond these limits refusals are
	// sent at once.
	heldOfAll, heldOfOne = 1024, 256
)

// refusals paces the refusals to partners above their rate.
type refusals struct {
	mu   sync.Mutex
	held int
	of   map[partner.ID]*refusedPartner
}

// refusedPartner is the rate of one partner's refusals, and how many of them are held back at present.
type refusedPartner struct {
	*rate.Limiter
	held int
}

// newRefusals returns an empty count of refusals.
func newRefusals() *refusals { return &refusals{of: map[partner.ID]*refusedPartner{}} }

// delayOfRefusal returns how long to hold back a refusal. After a delay that is not zero the caller must call release.
func (f *refusals) delayOfRefusal(id partner.ID, heavy bool, now time.Time) (wait time.Duration, release func()) {
	cost := 1
	if heavy {
		cost = heavyRefusal
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.of[id]
	if p == nil { // one per partner that exists: nothing to evict
		p = &refusedPartner{Limiter: rate.NewLimiter(refusalsPerSecond, refusalsAtOnce)}
		f.of[id] = p
	}
	if p.AllowN(now, cost) || p.held == heldOfOne || f.held == heldOfAll {
		return 0, func() {}
	}
	r := p.ReserveN(now, cost)
	if wait = r.DelayFrom(now); wait > holdMost {
		r.CancelAt(now)
		wait = holdMost
	}
	p.held++
	f.held++
	return wait, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		p.held--
		f.held--
	}
}

// holdRefusal lets a partner that asks too much wait for its refusal.
func (f *refusals) holdRefusal(ctx context.Context, id partner.ID, heavy bool, now time.Time) {
	wait, release := f.delayOfRefusal(id, heavy, now)
	defer release()
	if wait > 0 {
		waitOrLeave(ctx, wait)
	}
}

// waitOrLeave waits for a time, or until the caller is gone.
func waitOrLeave(ctx context.Context, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
