package api

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"vigia/internal/partner"
)

// limiter holds one token bucket per partner. It is per process: with several replicas each grants the whole rate.
type limiter struct {
	now     func() time.Time
	mu      sync.Mutex
	buckets map[partner.ID]*bucket
}

type bucket struct {
	*rate.Limiter
	perSecond, burst int
}

func newLimiter(now func() time.Time) *limiter {
	return &limiter{now: now, buckets: map[partner.ID]*bucket{}}
}

// take spends a token, or says how long until there is one.
func (l *limiter) take(who partner.Caller) time.Duration {
	perSecond, burst := who.Settings.Rate()
	now := l.now()
	l.mu.Lock()
	b := l.buckets[who.Partner]
	switch {
	case b == nil: // one bucket per partner that exists: nothing to evict
		b = &bucket{rate.NewLimiter(rate.Limit(perSecond), burst), perSecond, burst}
		l.buckets[who.Partner] = b
	case b.perSecond != perSecond || b.burst != burst:
		b.perSecond, b.burst = perSecond, burst
		b.SetLimitAt(now, rate.Limit(perSecond))
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
