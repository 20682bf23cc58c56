package webhook

import "time"

// MaxAttempts is how many tries a delivery gets before it is marked failed.
const MaxAttempts = len(delays)

// delays are the waits before each try, as Standard Webhooks lists them: the tenth comes 75 h 35 min 5 s after the
// first.
var delays = [...]time.Duration{
	0,
	5 * time.Second,
	5 * time.Minute,
	30 * time.Minute,
	2 * time.Hour,
	5 * time.Hour,
	10 * time.Hour,
	14 * time.Hour,
	20 * time.Hour,
	24 * time.Hour,
}

// jitter is the share by which a wait is moved, so that the failures of one outage do not come back as one wave.
const jitter = 0.10

// Schedule names the time of the next try.
type Schedule struct{ random func() float64 }

// NewSchedule makes a schedule; random returns numbers in [0, 1) and must suit as many goroutines as call NextAttempt
// (math/rand/v2's Float64 does).
func NewSchedule(random func() float64) Schedule { return Schedule{random} }

// NextAttempt returns when to try again after the given number of counted tries, and false when they are used up. A
// receiver's retryAfter is kept to: the next try is never earlier, and a little later for each, as they were all told
// the same.
func (s Schedule) NextAttempt(attempts int, now time.Time, retryAfter time.Duration) (time.Time, bool) {
	if attempts >= MaxAttempts {
		return time.Time{}, false
	}
	r := s.random()
	delay := delays[max(attempts, 0)]
	wait := delay + time.Duration((2*r-1)*jitter*float64(delay))
	if asked := min(retryAfter, maxRetryAfter); asked > wait {
		wait = asked + time.Duration(r*jitter*float64(asked))
	}
	return now.Add(wait), true
}
