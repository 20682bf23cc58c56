package cyber

import (
	"testing"
	"time"
)

// TestLookBucket: tokens return with time, no faster when the clock is asked often, never above the burst, and never by
// a clock that runs behind.
func TestLookBucket(t *testing.T) {
	b := NewLookBucket(modelNow)
	b.Subscriptions = 24 // one an hour
	b.Granted = 50
	if got := b.TakeTokens(1020); got != 1020 || b.Tokens != 0 || b.Granted != 30 {
		t.Fatalf("%d taken: %+v", got, b)
	}
	if got := b.TakeTokens(100); got != 30 || b.Left() != 0 {
		t.Fatalf("%d taken: %+v", got, b)
	}
	now := modelNow
	for range 3600 {
		now = now.Add(time.Second)
		b.RefillTokens(now, 200)
	}
	if b.Tokens < 200 || b.Tokens > 201 {
		t.Errorf("an hour gave %d", b.Tokens)
	}
	b.RefillTokens(now.Add(-10*time.Minute), 200)
	if b.Tokens > 201 || b.RefilledAt.Before(now.Add(-time.Minute)) {
		t.Errorf("a clock that runs behind: %+v", b)
	}
	b.RefillTokens(now.Add(30*24*time.Hour), 200)
	if b.Tokens != LookBurst {
		t.Errorf("a month gave %d", b.Tokens)
	}
	if at := b.LookedUpBy(now, 200, 1402); at.Sub(now) != 2*time.Hour {
		t.Errorf("1402 wait until %s", at)
	}
	b.Stop.At = now
	if b.Left() != 0 || b.TakeTokens(1) != 0 || !b.LookedUpBy(now, 200, 1402).IsZero() {
		t.Error("stopped, and there are tokens")
	}
}

// TestJudgeLooks: what trips the brake and what does not.
func TestJudgeLooks(t *testing.T) {
	day := func(looks, hits int64) LookHour { return LookHour{Looks: looks, Hits: hits} }
	past := func(looks, hits, busiest int64) lookRange {
		return lookRange{looks, hits, busiest, looks >= brakeSample}
	}
	none := lookRange{}
	peers := []lookRange{past(5000, 1500, 500), past(5000, 1400, 900), past(5000, 1600, 700)} // 30 %
	tricked := append([]lookRange{past(90_000, 90_000, 90_000)}, peers...)
	for name, c := range map[string]struct {
		day   LookHour
		past  lookRange
		peers []lookRange
		adds  int64
		want  LookMeasure
	}{
		"as ever":                             {day(1000, 330), past(9000, 2700, 900), peers, 1000, ""},
		"a list of leaked people":             {day(1000, 990), past(9000, 2700, 900), peers, 1000, UnusualHits},
		"made-up people":                      {day(1000, 10), past(9000, 2700, 900), peers, 1000, UnusualHits},
		"half of them leaked":                 {day(1000, 500), past(9000, 2700, 900), peers, 1000, ""},
		"a bank most of whose people leaked":  {day(1000, 990), past(9000, 8800, 900), peers, 1000, ""},
		"a small bank":                        {day(299, 299), past(9000, 2700, 900), peers, 299, ""},
		"few leaked, and some more":           {day(1000, 20), past(9000, 45, 900), peers, 1000, ""},
		"a new partner as the others":         {day(1000, 400), none, peers, 1000, ""},
		"a new partner with leaked people":    {day(1000, 990), none, peers, 1000, UnusualHits},
		"one partner does not move the range": {day(1000, 990), none, tricked, 1000, UnusualHits},
		"nothing to compare with":             {day(1000, 990), none, peers[:2], 1000, ""},
		"more than tokens of two days":        {day(1000, 300), none, peers, 10_601, TooManyAdds},
		"as many as tokens of two days":       {day(1000, 300), none, peers, 10_600, ""},
		"ten times its busiest day":           {day(1000, 300), past(90_000, 27_000, 3000), peers, 30_000, ""},
		"more than ten times":                 {day(1000, 300), past(90_000, 27_000, 3000), peers, 30_001, TooManyAdds},
		"an onboarding with a grant":          {LookHour{Looks: 300_000, Hits: 90_000, Granted: 300_000}, none, peers, 300_000, ""},
		"leaked people with a grant":          {LookHour{Looks: 300_000, Hits: 290_000, Granted: 300_000}, none, peers, 300_000, UnusualHits},
	} {
		got, ok := judgeLooks(c.day, c.past, c.peers, c.adds, 4800)
		if got.What != c.want || ok != (c.want != "") || ok && got.Usual == 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
