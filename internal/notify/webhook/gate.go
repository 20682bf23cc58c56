package webhook

import (
	"sync"
	"time"
)

// GateRule is what one endpoint may take from the workers of one process.
type GateRule struct {
	// Concurrent attempts at once. It keeps one slow receiver from holding every worker.
	Concurrent int
	// PerSecond and Burst bound the rate; 0 per second means no bound.
	PerSecond float64
	Burst     int
	Breaker   BreakerRule
}

// DefaultGate is the rule for endpoints.
var DefaultGate = GateRule{Concurrent: 4, PerSecond: 50, Burst: 100, Breaker: DefaultBreaker}

// busyWait is the wait advised when all slots are taken: a slot has no time at which it comes free.
const busyWait = 100 * time.Millisecond

// Gates keeps a gate (slots, breaker, limiter) for each endpoint it was asked about; K is the
// endpoint's id. Endpoints are rows that people made, so their number is small; a deleted one is dropped with Forget.
type Gates[K comparable] struct {
	rule GateRule
	now  func() time.Time

	mu    sync.Mutex
	gates map[K]*gate
}

// gate is what bounds the attempts at one endpoint: a circuit breaker and a rate limit.
type gate struct {
	breaker *Breaker
	limiter *Limiter // nil without a bound
	inUse   int      // guarded by Gates.mu
}

func (r GateRule) newEndpointGate(now func() time.Time) *gate {
	e := &gate{breaker: NewBreaker(r.Breaker, now)}
	if r.PerSecond > 0 {
		e.limiter = NewLimiter(r.PerSecond, r.Burst, now)
	}
	return e
}

// NewGates makes an empty set on the given clock, which must not go backwards.
func NewGates[K comparable](rule GateRule, now func() time.Time) *Gates[K] {
	return &Gates[K]{rule: rule, now: now, gates: make(map[K]*gate)}
}

// EnterGate asks to make one attempt at the endpoint. Granted, the caller calls Leave with the verdict; refused, wait
// is when asking again makes sense. The slot is asked for first and the breaker last, so that a probe is never granted
// to an attempt that something else then holds back.
func (g *Gates[K]) EnterGate(endpoint K) (wait time.Duration, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	e := g.gates[endpoint]
	if e == nil {
		e = g.rule.newEndpointGate(g.now)
		g.gates[endpoint] = e
	}
	if e.inUse >= g.rule.Concurrent {
		return busyWait, false
	}
	if e.limiter != nil {
		if wait, ok = e.limiter.AllowAttempt(); !ok {
			return wait, false
		}
	}
	if wait, ok = e.breaker.AllowAttempt(); !ok {
		return wait, false
	}
	e.inUse++
	return 0, true
}

// LeaveGate gives the slot back. An attempt that our own stop cut says nothing about the receiver; one that wants no
// more is alive. It reports whether the attempt has shown that a receiver which was given up answers again.
func (g *Gates[K]) LeaveGate(endpoint K, action Action) (revived bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	e := g.gates[endpoint]
	if e == nil || e.inUse == 0 {
		return false
	}
	e.inUse--
	return action != Release && e.breaker.RecordAttempt(action != Retry)
}

// ForgetEndpoint drops what is known of an endpoint that is not in use: after it was deleted, or enabled again by hand.
func (g *Gates[K]) ForgetEndpoint(endpoint K) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if e := g.gates[endpoint]; e != nil && e.inUse == 0 {
		delete(g.gates, endpoint)
	}
}

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
