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

// EnterGate asks to make one attempt at the endpoint. Granted, the caller calls LeaveGate with the verdict; refused,
// wait is when asking again makes sense. The slot is asked for first and the breaker last, so that a probe is never
// granted to an attempt that something else then holds back.
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
