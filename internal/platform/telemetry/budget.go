package telemetry

import (
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Budget is how often each address may do something. It counts in this process only. One customer of a provider has a
// whole /64 of IPv6, so that is what counts as an address there.
type Budget struct {
	now   func() time.Time
	every time.Duration
	burst int

	mu sync.Mutex
	by map[string]*rate.Limiter
}

// most bounds the memory; beyond it all addresses start over.
const most = 10_000

// NewBudget gives each address burst at once and one more every so often.
func NewBudget(now func() time.Time, every time.Duration, burst int) *Budget {
	return &Budget{now: now, every: every, burst: burst, by: map[string]*rate.Limiter{}}
}

// TakeToken spends one of an address's, or says how long until there is one. A nil budget has no end.
func (b *Budget) TakeToken(address string) time.Duration {
	if b == nil {
		return 0
	}
	if strings.Contains(address, ":") {
		address = cutToNetwork(address, 32, 64)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.by[address]
	if one == nil {
		if len(b.by) >= most {
			clear(b.by)
		}
		one = rate.NewLimiter(rate.Every(b.every), b.burst)
		b.by[address] = one
	}
	now := b.now()
	if one.AllowN(now, 1) {
		return 0
	}
	r := one.ReserveN(now, 1)
	wait := r.DelayFrom(now)
	r.CancelAt(now)
	return max(wait, time.Millisecond)
}
