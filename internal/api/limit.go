package api

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/vigiahq/vigia/internal/partner"
)

// limiter holds one token bucket per partner. It is per process: of several replicas each grants its part of the rate.
type limiter struct {
	// replicas is by how many the rate is divided.
	replicas func() int
	mu       sync.Mutex
	buckets  map[partner.ID]*bucket
}

type bucket struct {
	*rate.Limiter
	perSecond rate.Limit
	burst     int
}

func newLimiter(replicas func() int) *limiter {
	if replicas == nil {
		replicas = func() int { return 1 }
	}
	return &limiter{replicas: replicas, buckets: map[partner.ID]*bucket{}}
}

// take spends a token, or says how long until there is one.
func (l *limiter) take(who partner.Caller, now time.Time) time.Duration {
	perSecond, burst := l.part(who)
	l.mu.Lock()
	b := l.buckets[who.Partner]
	switch {
	case b == nil: // one bucket per partner that exists: nothing to evict
		b = &bucket{rate.NewLimiter(perSecond, burst), perSecond, burst}
		l.buckets[who.Partner] = b
	case b.perSecond != perSecond || b.burst != burst:
		b.perSecond, b.burst = perSecond, burst
		b.SetLimitAt(now, perSecond)
		b.SetBurstAt(now, burst)
	}
	l.mu.Unlock()
	if b.AllowN(now, 1) {
		return 0
	}
	r := b.ReserveN(now, 1)
	wait := r.DelayFrom(now)
	r.CancelAt(now)
	return max(wait, time.Millisecond)
}

// part is what this process grants of a partner's rate and burst.
func (l *limiter) part(who partner.Caller) (rate.Limit, int) {
	perSecond, burst := who.Settings.Rate()
	n := l.replicas()
	return rate.Limit(perSecond) / rate.Limit(n), max(burst/n, 1)
}
