package cyber

import "time"

// LookBucket holds the tokens of one partner.
type LookBucket struct {
	Tokens int64
	// Onboarded is how many of the first looks that the partner's size gives have been used.
	Onboarded int64
	// Granted are tokens given by an operator, used when there are no others.
	Granted    int64
	RefilledAt time.Time
	// Subscriptions have been in force for LookSubscriptionAge or longer, as they were counted at CountedAt.
	Subscriptions int64
	CountedAt     time.Time
	// Told is the state that the partner was told last.
	Told LookState
}

// NewLookBucket returns the bucket of a partner that has not used any token yet.
func NewLookBucket(now time.Time) LookBucket {
	return LookBucket{Tokens: LookBurst, RefilledAt: now, Told: LooksRunning}
}

// BonusPerDay returns how many tokens return in a day for subscriptions: at most as many as the pace itself returns.
func (b LookBucket) BonusPerDay(pace LookPace) int64 { return min(b.Subscriptions, 24*pace.PerHour) }

// tokensPerDay returns how many tokens return in a day.
func (b LookBucket) tokensPerDay(pace LookPace) int64 { return 24*pace.PerHour + b.BonusPerDay(pace) }

// RefillTokens adds the tokens that have returned since the last refill. A clock that is behind that of the process
// that refilled last adds nothing. No time counts while first looks are stopped.
func (b *LookBucket) RefillTokens(now time.Time, pace LookPace) {
	if pace.IsStopped() {
		b.RefilledAt = later(b.RefilledAt, now)
		return
	}
	each := float64(24*time.Hour) / float64(b.tokensPerDay(pace))
	returned := int64(float64(now.Sub(b.RefilledAt)) / each)
	if returned <= 0 {
		return
	}
	b.RefilledAt = b.RefilledAt.Add(time.Duration(float64(returned) * each))
	b.Tokens += returned
	if b.Tokens >= LookBurst {
		b.Tokens = LookBurst
		b.RefilledAt = now
	}
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// onboardingLeft returns how many first looks of the partner's size are left.
func (b LookBucket) onboardingLeft(pace LookPace) int64 { return max(pace.Onboarding-b.Onboarded, 0) }

// Left returns how many first looks can be made now.
func (b LookBucket) Left(pace LookPace) int64 {
	if pace.IsStopped() {
		return 0
	}
	return b.Tokens + b.onboardingLeft(pace) + b.Granted
}

// TakeTokens uses up to n tokens and returns how many there were: those that return first, then those of the partner's
// size, then those granted.
func (b *LookBucket) TakeTokens(n int64, pace LookPace) int64 {
	n = min(n, b.Left(pace))
	own := min(n, b.Tokens)
	onboarding := min(n-own, b.onboardingLeft(pace))
	b.Tokens -= own
	b.Onboarded += onboarding
	b.Granted -= n - own - onboarding
	return n
}

// LookedUpBy returns when the last of so many waiting values will have had its first look, or the zero time when none
// waits or first looks are stopped.
func (b LookBucket) LookedUpBy(now time.Time, pace LookPace, waiting int64) time.Time {
	if waiting == 0 || pace.IsStopped() {
		return time.Time{}
	}
	missing := max(waiting-b.Left(pace), 0)
	return now.Add(time.Duration(float64(missing) / float64(b.tokensPerDay(pace)) * float64(24*time.Hour)))
}
