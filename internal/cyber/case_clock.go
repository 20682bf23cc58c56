package cyber

import "time"

// Clock counts the working time of a case against its target. It stands while the client is waited for and once the
// case is resolved, closed or cancelled; a reopened case goes on from where it stood.
type Clock struct {
	// Target is the time allowed; 0 means any.
	Target time.Duration
	// Used is what was counted up to Since, which is zero while the clock stands.
	Used  time.Duration
	Since time.Time
}

// UsedAt returns the working time counted so far.
func (c Clock) UsedAt(now time.Time) time.Duration {
	if c.Since.IsZero() || now.Before(c.Since) {
		return c.Used
	}
	return c.Used + now.Sub(c.Since)
}

// Due returns when the target is reached if the clock keeps running; false while it stands or without a target.
func (c Clock) Due() (time.Time, bool) {
	if c.Target == 0 || c.Since.IsZero() {
		return time.Time{}, false
	}
	return c.Since.Add(c.Target - c.Used), true
}

// Late reports whether more time was used than allowed.
func (c Clock) Late(now time.Time) bool { return c.Target > 0 && c.UsedAt(now) > c.Target }

// advanceTo counts what ran until now, and runs on or stands.
func (c *Clock) advanceTo(now time.Time, run bool) {
	c.Used, c.Since = c.UsedAt(now), time.Time{}
	if run {
		c.Since = now
	}
}
