package webhook

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// clock is set by hand.
type clock struct{ time.Time }

func (c *clock) now() time.Time          { return c.Time }
func (c *clock) advance(d time.Duration) { c.Time = c.Add(d) }

func TestBreaker(t *testing.T) {
	rule := BreakerRule{Failures: 3, Cooldown: 10 * time.Second, MaxCooldown: 35 * time.Second}
	c := &clock{epoch}
	b := NewBreaker(rule, c.now)
	allow := func(want bool, wantWait time.Duration) {
		t.Helper()
		if wait, ok := b.AllowAttempt(); ok != want || wait != wantWait {
			t.Errorf("at %v: Allow = %v, %v; want %v, %v", c.Sub(epoch), wait, ok, wantWait, want)
		}
	}
	// Failures that are not in a row do not trip it.
	for range 5 {
		b.RecordAttempt(false)
		b.RecordAttempt(false)
		b.RecordAttempt(true)
	}
	allow(true, 0)
	// Three in a row do; late news from attempts under way change nothing.
	b.RecordAttempt(false)
	b.RecordAttempt(false)
	allow(true, 0)
	b.RecordAttempt(false)
	allow(false, 10*time.Second)
	b.RecordAttempt(false)
	c.advance(4 * time.Second)
	allow(false, 6*time.Second)
	// One probe for each cooldown, which doubles up to its bound.
	c.advance(6 * time.Second)
	allow(true, 0)
	allow(false, 10*time.Second)
	for _, wait := range []time.Duration{20 * time.Second, 35 * time.Second, 35 * time.Second} {
		b.RecordAttempt(false)
		allow(false, wait)
		c.advance(wait - 1)
		allow(false, 1)
		c.advance(1)
		allow(true, 0)
	}
	// A probe that never reports is replaced.
	c.advance(35 * time.Second)
	allow(true, 0)
	// A success closes it, and the next trip starts from the short cooldown.
	b.RecordAttempt(true)
	allow(true, 0)
	allow(true, 0)
	for range 3 {
		b.RecordAttempt(false)
	}
	allow(false, 10*time.Second)
	// A success of an attempt that was under way closes it too.
	b.RecordAttempt(true)
	allow(true, 0)
}

func TestLimiter(t *testing.T) {
	c := &clock{epoch}
	l := NewLimiter(10, 3, c.now)
	take := func(want bool, wantWait time.Duration) {
		t.Helper()
		if wait, ok := l.AllowAttempt(); ok != want || wait != wantWait {
			t.Errorf("at %v: %v, %v; want %v, %v", c.Sub(epoch), wait, ok, wantWait, want)
		}
	}
	for range 3 {
		take(true, 0)
	}
	take(false, 100*time.Millisecond)
	c.advance(40 * time.Millisecond)
	take(false, 60*time.Millisecond)
	c.advance(60 * time.Millisecond)
	take(true, 0)
	take(false, 100*time.Millisecond)
	c.advance(time.Hour) // idle time fills the bucket, no more
	for range 3 {
		take(true, 0)
	}
	take(false, 100*time.Millisecond)
	// On average: no more than rate and burst over ten seconds of asking all the time.
	c.advance(time.Hour)
	granted := 0
	for range 10_000 {
		if _, ok := l.AllowAttempt(); ok {
			granted++
		}
		c.advance(time.Millisecond)
	}
	if granted < 100 || granted > 103 {
		t.Errorf("%d attempts in 10 s at 10 per second", granted)
	}
}

func TestGates(t *testing.T) {
	c := &clock{epoch}
	g := NewGates[string](
		GateRule{
			Concurrent: 2,
			PerSecond:  1000,
			Burst:      6,
			Breaker:    BreakerRule{Failures: 2, Cooldown: time.Minute, MaxCooldown: time.Minute},
		},
		c.now,
	)
	enter := func(id string, want bool, wantWait time.Duration) {
		t.Helper()
		if wait, ok := g.EnterGate(id); ok != want || wait != wantWait {
			t.Errorf("Enter(%s) = %v, %v; want %v, %v", id, wait, ok, wantWait, want)
		}
	}
	enter("a", true, 0)
	enter("a", true, 0)
	enter("a", false, busyWait)
	enter("b", true, 0) // another endpoint is not touched
	g.LeaveGate("a", Retry)
	g.LeaveGate("a", Release) // says nothing
	enter("a", true, 0)
	g.LeaveGate("a", Retry) // second failure in a row: open
	enter("a", false, time.Minute)
	enter("b", true, 0)
	c.advance(time.Minute)
	enter("a", true, 0) // the probe
	enter("a", false, time.Minute)
	g.LeaveGate("a", Delivered)
	enter("a", true, 0)
	g.ForgetEndpoint("a") // in use: stays
	enter("a", true, 0)
	enter("a", false, busyWait)
	g.LeaveGate("a", Disable)
	g.LeaveGate("a", Disable)
	g.LeaveGate("a", Retry) // nobody inside: ignored
	for range 4 {
		if _, ok := g.EnterGate("a"); ok {
			g.LeaveGate("a", Delivered)
		}
	}
	enter("a", false, time.Millisecond) // the burst of six is used up
	g.ForgetEndpoint("a")
	enter("a", true, 0)
	g.LeaveGate("unknown", Retry)

	free := NewGates[int](GateRule{Concurrent: 1, Breaker: DefaultBreaker}, c.now)
	for range 1000 {
		if _, ok := free.EnterGate(1); !ok {
			t.Fatal("a gate without rate refuses")
		}
		free.LeaveGate(1, Delivered)
	}
}

// TestDeadEndpoint: a receiver that never answers takes an attempt every few seconds, a healthy one beside it all.
func TestDeadEndpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGates[string](DefaultGate, time.Now)
		attempts := map[string]int{}
		var mu sync.Mutex
		var workers sync.WaitGroup
		work := func(id string, action Action, takes time.Duration) {
			for end := time.Now().Add(time.Hour); time.Now().Before(end); {
				wait, ok := g.EnterGate(id)
				if !ok {
					time.Sleep(wait)
					continue
				}
				mu.Lock()
				attempts[id]++
				mu.Unlock()
				time.Sleep(takes)
				g.LeaveGate(id, action)
			}
		}
		for range 8 {
			workers.Go(func() { work("dead", Retry, 15*time.Second) })
			workers.Go(func() { work("healthy", Delivered, time.Second) })
		}
		workers.Wait()
		if n := attempts["dead"]; n < 8 || n > 3600/4 {
			t.Errorf("%d attempts at the dead endpoint", n)
		}
		if n := attempts["healthy"]; n < 4*3600*8/10 {
			t.Errorf("%d attempts at the healthy endpoint", n)
		}
		t.Logf("in an hour of 8 workers each: %v", attempts)
	})
}

// TestRevivedEndpointIsProbedSoon: however long a receiver has been dead, the next attempt is less than five seconds
// away.
func TestRevivedEndpointIsProbedSoon(t *testing.T) {
	c := &clock{epoch}
	b := NewBreaker(DefaultBreaker, c.now)
	for range 200 {
		wait, ok := b.AllowAttempt()
		if wait >= 5*time.Second {
			t.Fatalf("an endpoint is left alone for %v", wait)
		}
		if ok {
			b.RecordAttempt(false)
		} else {
			c.advance(wait)
		}
	}
}
