package webhook

import (
	"sync"
	"time"
)

// Limiter bounds the attempts per second to one endpoint. It keeps a single number, the time at which the bucket is
// full again, and needs no goroutine.
type Limiter struct {
	interval time.Duration
	burst    time.Duration
	now      func() time.Time

	mu   sync.Mutex
	full time.Time
}

// NewLimiter allows perSecond attempts on average, which must be over 0, and burst at once, which counts as at least 1.
func NewLimiter(perSecond float64, burst int, now func() time.Time) *Limiter {
	interval := time.Duration(float64(time.Second) / perSecond)
	return &Limiter{interval: interval, burst: time.Duration(max(burst, 1)) * interval, now: now}
}

// AllowAttempt takes one attempt from the bucket, or says how long to wait for it.
func (l *Limiter) AllowAttempt() (wait time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if l.full.Before(now) {
		l.full = now
	}
	next := l.full.Add(l.interval)
	if wait := next.Sub(now) - l.burst; wait > 0 {
		return wait, false
	}
	l.full = next
	return 0, true
}
