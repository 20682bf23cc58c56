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
