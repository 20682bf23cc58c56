package webhook

import (
	"math/rand/v2"
	"testing"
	"time"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// run plays a delivery that always fails and returns when each try was made.
func run(s Schedule, retryAfter time.Duration) []time.Duration {
	var tries []time.Duration
	now := epoch
	for n := 0; ; n++ {
		next, again := s.NextAttempt(n, now, retryAfter)
		if !again {
			return tries
		}
		now = next
		tries = append(tries, now.Sub(epoch))
	}
}

// TestSchedule is row W3: ten tries, the tenth 75 h 35 min 5 s after the first, give or take the jitter.
func TestSchedule(t *testing.T) {
	middle := run(NewSchedule(func() float64 { return 0.5 }), 0)
	want := []string{"0s", "5s", "5m5s", "35m5s", "2h35m5s", "7h35m5s", "17h35m5s", "31h35m5s", "51h35m5s", "75h35m5s"}
	if len(middle) != MaxAttempts || MaxAttempts != 10 {
		t.Fatalf("%d tries", len(middle))
	}
	for i, d := range middle {
		if d.String() != want[i] {
			t.Errorf("try %d at %v, want %s", i+1, d, want[i])
		}
	}
	total := middle[9]
	for seed := range uint64(2000) {
		tries := run(NewSchedule(rand.New(rand.NewPCG(seed, 0)).Float64), 0)
		if tries[0] != 0 {
			t.Fatalf("the first try waits %v", tries[0])
		}
		for i := 1; i < len(tries); i++ {
			if gap := tries[i] - tries[i-1]; gap < delays[i]*9/10 || gap > delays[i]*11/10 {
				t.Fatalf("seed %d: try %d after %v, want %v by 10 %%", seed, i+1, gap, delays[i])
			}
		}
		if last := tries[9]; last < total*9/10 || last > total*11/10 {
			t.Fatalf("seed %d: the last try at %v", seed, last)
		}
	}
	early, late := run(NewSchedule(func() float64 { return 0 }), 0)[9], run(NewSchedule(func() float64 { return 0.999999 }), 0)[9]
	if early > total*91/100 || late < total*109/100 {
		t.Errorf("the jitter is not used: %v to %v", early, late)
	}
}

func TestScheduleKeepsToRetryAfter(t *testing.T) {
	for _, r := range []float64{0, 0.3, 0.999} {
		s := NewSchedule(func() float64 { return r })
		for n := 1; n < MaxAttempts; n++ {
			for _, asked := range []time.Duration{time.Second, time.Minute, time.Hour, 23 * time.Hour, 24 * time.Hour} {
				next, _ := s.NextAttempt(n, epoch, asked)
				unasked, _ := s.NextAttempt(n, epoch, 0)
				wait := next.Sub(epoch)
				if wait < asked || next.Before(unasked) {
					t.Errorf("after try %d, asked for %v: %v", n, asked, wait)
				}
				if wait > max(asked, delays[n])*11/10 {
					t.Errorf("after try %d, asked for %v: %v is too long", n, asked, wait)
				}
			}
		}
		if next, _ := s.NextAttempt(1, epoch, 1000*time.Hour); next.Sub(epoch) > 24*time.Hour*11/10 {
			t.Errorf("a wait of %v", next.Sub(epoch))
		}
		if next, again := s.NextAttempt(-3, epoch, 0); !again || !next.Equal(epoch) {
			t.Errorf("before the first try: %v, %v", next, again)
		}
		if _, again := s.NextAttempt(MaxAttempts, epoch, time.Hour); again {
			t.Error("an eleventh try")
		}
	}
}
