package api

import (
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
)

// TestBurstIsShared: the replicas together grant one burst and one rate, not one each. A replica that comes or goes
// changes both.
func TestBurstIsShared(t *testing.T) {
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	who := partner.Caller{Partner: "pt_1", Settings: partner.Settings{RatePerSecond: 8, Burst: 40}}
	replicas := 4
	l := newLimiter(func() int { return replicas })
	granted := func() (n int) {
		for l.takeToken(who, now).wait == 0 {
			n++
		}
		return n
	}
	if n := granted(); n != 10 {
		t.Errorf("one of four replicas grants %d requests of a burst of 40", n)
	}
	now = now.Add(time.Second)
	if n := granted(); n != 2 {
		t.Errorf("one of four replicas grants %d requests a second of 8", n)
	}
	replicas = 1
	l.takeToken(who, now) // from here on the bucket fills as one
	now = now.Add(time.Hour)
	if n := granted(); n != 40 {
		t.Errorf("the last replica grants %d requests of a burst of 40", n)
	}
	replicas = 100
	now = now.Add(time.Hour)
	if n := granted(); n != 1 {
		t.Errorf("one of a hundred replicas grants %d requests: at least one must pass", n)
	}
}

// TestNewRateReachesEveryBucket: a partner whose rate changes has its bulks and lists limited by the new rate from its
// next request on, as its requests are.
func TestNewRateReachesEveryBucket(t *testing.T) {
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	who := partner.Caller{Partner: "pt_1", Settings: partner.Settings{RatePerSecond: 1, Burst: 2}}
	l := newLimiter(nil)
	l.takeToken(who, now)
	buckets := map[string]struct {
		charge func(who partner.Caller, items, bytes int, now time.Time)
		wait   func(who partner.Caller, now time.Time) time.Duration
	}{
		"bulk": {l.chargeBulk, l.waitForBulk},
		"list": {l.chargeList, l.waitForList},
	}
	for _, rate := range []struct {
		perSecond, burst int
		// burstWait is how long a partner waits that took its whole burst of items at once, and twice the burst.
		burstWait, debtWait time.Duration
	}{
		{1, 2, 10 * time.Millisecond, 2*time.Second + 10*time.Millisecond},
		{10, 30, time.Millisecond, 3*time.Second + time.Millisecond},
		{10, 5, time.Millisecond, 500*time.Millisecond + time.Millisecond},
		{2, 5, 5 * time.Millisecond, 2500*time.Millisecond + 5*time.Millisecond},
	} {
		who.Settings = partner.Settings{RatePerSecond: rate.perSecond, Burst: rate.burst}
		l.takeToken(who, now)
		now = now.Add(time.Hour) // all buckets are full
		for name, b := range buckets {
			if wait := b.wait(who, now); wait != 0 {
				t.Errorf("%d a second: the %s waits %s with a full bucket", rate.perSecond, name, wait)
			}
			items := rate.burst * itemsPerRequest
			b.charge(who, items, 0, now)
			if wait := b.wait(who, now).Round(time.Microsecond); wait != rate.burstWait {
				t.Errorf("%d a second: the %s waits %s, want %s", rate.perSecond, name, wait, rate.burstWait)
			}
			b.charge(who, items, 0, now)
			if wait := b.wait(who, now).Round(time.Microsecond); wait != rate.debtWait {
				t.Errorf("%d a second: the %s in debt waits %s, want %s", rate.perSecond, name, wait, rate.debtWait)
			}
		}
	}
}
