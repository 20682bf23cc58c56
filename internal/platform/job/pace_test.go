package job_test

import (
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/platform/job"
)

// TestPace: what an earlier run did counts for how far the work is, and not for how fast it goes.
func TestPace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		done, before, total int64
		elapsed             time.Duration
		want                job.Pace
	}{
		"half":          {50, 0, 100, 10 * time.Second, job.Pace{Percent: 50, PerSecond: 5, Left: 10 * time.Second}},
		"taken up":      {60, 50, 100, 10 * time.Second, job.Pace{Percent: 60, PerSecond: 1, Left: 40 * time.Second}},
		"unknown total": {50, 0, 0, 10 * time.Second, job.Pace{Percent: -1, PerSecond: 5}},
		"not begun":     {0, 0, 100, 0, job.Pace{Percent: 0}},
		"only repeated": {40, 50, 100, time.Second, job.Pace{Percent: 40}},
		"over":          {120, 0, 100, 10 * time.Second, job.Pace{Percent: 100, PerSecond: 12}},
	} {
		if got := job.EstimatePace(c.done, c.before, c.total, c.elapsed); got != c.want {
			t.Errorf("%s: %+v, not %+v", name, got, c.want)
		}
	}
}
