package job

import "time"

// Hasten makes a runner renew, tell and watch at once, and look for due jobs only when a place becomes free or poll has
// passed.
func (r *Runner) Hasten(poll time.Duration) *Runner {
	r.poll, r.renew, r.tell, r.watch = poll, time.Millisecond, 0, time.Millisecond
	return r
}

// Poll is how often a lane with a free place looks for due jobs.
func (r *Runner) Poll() time.Duration { return r.poll }
