package webhook

import (
	"sync"
	"time"
)

// BreakerRule sets when a breaker trips and how long it stays open.
type BreakerRule struct {
	// Failures in a row that trip it.
	Failures int
	// Cooldown is the first wait before a probe; each failed probe doubles it up to MaxCooldown.
	Cooldown, MaxCooldown time.Duration
}

// DefaultBreaker is the rule for endpoints: a receiver that has just failed five times gets one attempt after two
// seconds, a dead one an attempt every four. That is little for either side, and what waits for a receiver begins to
// arrive within five seconds of its return.
var DefaultBreaker = BreakerRule{Failures: 5, Cooldown: 2 * time.Second, MaxCooldown: 4 * time.Second}

// Breaker holds back the deliveries of an endpoint that keeps failing, so that a dead receiver costs one probe now and
// then instead of a time-out for each event. Deliveries held back do not use up tries. It lives in memory: a replica
// that starts learns afresh, at the price of a few failures.
type Breaker struct {
	rule BreakerRule
	now  func() time.Time

	mu       sync.Mutex
	failures int
	cooldown time.Duration
	// openUntil is when the next probe may go; the zero time means closed. Letting a probe go moves it on, so a probe
	// whose result never comes is replaced by another one.
	openUntil time.Time
	probing   bool
}

// NewBreaker makes a closed breaker on the given clock.
func NewBreaker(rule BreakerRule, now func() time.Time) *Breaker {
	return &Breaker{rule: rule, now: now, cooldown: rule.Cooldown}
}

// AllowAttempt reports whether an attempt may go now, and otherwise how long to wait. While open, one call in each
// cooldown gets through: the probe. A caller that is allowed must report the result with Record.
func (b *Breaker) AllowAttempt() (wait time.Duration, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.openUntil.IsZero() {
		return 0, true
	}
	now := b.now()
	if wait := b.openUntil.Sub(now); wait > 0 {
		return wait, false
	}
	b.openUntil, b.probing = now.Add(b.cooldown), true
	return 0, true
}

// RecordAttempt takes the result of an attempt. A success closes the breaker, whichever attempt it came from: the
// receiver is alive. A failure counts while closed, doubles the wait while a probe is out, and is old news otherwise.
// It reports whether the breaker was open and is closed now.
func (b *Breaker) RecordAttempt(success bool) (closed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case success:
		closed = !b.openUntil.IsZero()
		b.failures, b.cooldown, b.openUntil, b.probing = 0, b.rule.Cooldown, time.Time{}, false
	case b.openUntil.IsZero():
		if b.failures++; b.failures >= b.rule.Failures {
			b.openUntil = b.now().Add(b.cooldown)
		}
	case b.probing:
		b.probing = false
		b.cooldown = min(2*b.cooldown, b.rule.MaxCooldown)
		b.openUntil = b.now().Add(b.cooldown)
	}
	return closed
}
