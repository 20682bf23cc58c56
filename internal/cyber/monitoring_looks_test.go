package cyber

import (
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
)

// TestPaceOf: the size of a partner gives three first looks for each person at once, and one in an hour for each 200
// people, at least 200; the operator's own number counts instead, and 0 of it stops first looks.
func TestPaceOf(t *testing.T) {
	for name, c := range map[string]struct {
		settings partner.Settings
		want     LookPace
	}{
		"nothing said":       {partner.Settings{}, LookPace{PerHour: 200}},
		"a small bank":       {partner.Settings{People: 3500}, LookPace{PerHour: 200, Onboarding: 10_500}},
		"a large bank":       {partner.Settings{People: 2_000_000}, LookPace{PerHour: 10_000, Onboarding: 6_000_000}},
		"the operator's own": {partner.Settings{People: 2_000_000, FirstLooksPerHour: 50}, LookPace{PerHour: 50, Onboarding: 6_000_000}},
		"stopped": {
			partner.Settings{People: 9, FirstLooksPerHour: partner.NoFirstLooks}, LookPace{PerHour: 0, Onboarding: 27},
		},
	} {
		if got := PaceOf(c.settings); got != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestLookBucket: tokens return with time, no faster when the clock is asked often, never above the burst, and never by
// a clock that runs behind.
func TestLookBucket(t *testing.T) {
	pace := LookPace{PerHour: 200}
	b := NewLookBucket(modelNow)
	b.Subscriptions = 24 // one an hour
	b.Granted = 50
	if got := b.TakeTokens(1020, pace); got != 1020 || b.Tokens != 0 || b.Granted != 30 {
		t.Fatalf("%d taken: %+v", got, b)
	}
	if got := b.TakeTokens(100, pace); got != 30 || b.Left(pace) != 0 {
		t.Fatalf("%d taken: %+v", got, b)
	}
	now := modelNow
	for range 3600 {
		now = now.Add(time.Second)
		b.RefillTokens(now, pace)
	}
	if b.Tokens < 200 || b.Tokens > 201 {
		t.Errorf("an hour gave %d", b.Tokens)
	}
	b.RefillTokens(now.Add(-10*time.Minute), pace)
	if b.Tokens > 201 || b.RefilledAt.Before(now.Add(-time.Minute)) {
		t.Errorf("a clock that runs behind: %+v", b)
	}
	b.RefillTokens(now.Add(30*24*time.Hour), pace)
	if b.Tokens != LookBurst {
		t.Errorf("a month gave %d", b.Tokens)
	}
	if at := b.LookedUpBy(now, pace, 1402); at.Sub(now) != 2*time.Hour {
		t.Errorf("1402 wait until %s", at)
	}
}

// TestStoppedLooksLearnNothing: while first looks are stopped there are no tokens of any kind, and none return.
func TestStoppedLooksLearnNothing(t *testing.T) {
	stopped := LookPace{PerHour: 0, Onboarding: 300}
	b := NewLookBucket(modelNow)
	b.Granted = 50
	if b.Left(stopped) != 0 || b.TakeTokens(1, stopped) != 0 || !b.LookedUpBy(modelNow, stopped, 1402).IsZero() {
		t.Error("stopped, and there are tokens")
	}
	b.Tokens = 0
	b.RefillTokens(modelNow.Add(24*time.Hour), stopped)
	b.RefillTokens(modelNow.Add(25*time.Hour), LookPace{PerHour: 200})
	if b.Tokens != 200 {
		t.Errorf("a stopped day and an hour gave %d", b.Tokens)
	}
}

// TestOnboardingLooks: the first looks of a partner's size are used once, before what an operator granted; a larger
// size gives the difference, and a smaller one takes nothing that was not used.
func TestOnboardingLooks(t *testing.T) {
	pace := LookPace{PerHour: 200, Onboarding: 300}
	b := NewLookBucket(modelNow)
	b.Granted = 50
	difftest.Must(t, "taken", b.TakeTokens(1200, pace), 1200)
	want := b
	want.Onboarded, want.Granted = 200, 50
	difftest.Must(t, "the bucket", b, want)
	difftest.Must(t, "left", b.Left(pace), 150)
	if got := b.TakeTokens(500, pace); got != 150 || b.Onboarded != 300 || b.Granted != 0 {
		t.Fatalf("%d taken: %+v", got, b)
	}
	for onboarding, want := range map[int64]int64{30: 0, 300: 0, 360: 60} {
		if got := b.Left(LookPace{PerHour: 200, Onboarding: onboarding}); got != want {
			t.Errorf("with %d: %d left", onboarding, got)
		}
	}
}

// TestBonusIsBounded: subscriptions give at most as many tokens as the pace itself returns in a day.
func TestBonusIsBounded(t *testing.T) {
	pace := LookPace{PerHour: 200}
	for subscriptions, want := range map[int64]int64{0: 0, 100: 100, 4800: 4800, 5_000_000: 4800} {
		b := LookBucket{Subscriptions: subscriptions, RefilledAt: modelNow}
		if got := b.BonusPerDay(pace); got != want {
			t.Errorf("%d subscriptions give %d", subscriptions, got)
		}
		b.RefillTokens(modelNow.Add(time.Hour), pace)
		if got := b.Tokens; got != 200+want/24 {
			t.Errorf("%d subscriptions: an hour gave %d", subscriptions, got)
		}
	}
}
