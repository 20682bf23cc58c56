package job

import "time"

// Pace is how fast long work goes and when it will be over: one rule for the terminal and the console.
type Pace struct {
	// Percent is how much of it is done, 0 to 100; -1 when the total is unknown.
	Percent float64
	// PerSecond is how much was done in a second since this run began; 0 before anything was.
	PerSecond float64
	// Left is the time that the rest takes at this speed; 0 when that is not known.
	Left time.Duration
}

// EstimatePace judges work of which done of total was done after elapsed; before is what an earlier run had done, which
// says nothing about the speed of this one. A total of 0 is not known.
func EstimatePace(done, before, total int64, elapsed time.Duration) Pace {
	p := Pace{Percent: -1}
	if total > 0 {
		p.Percent = min(100, 100*float64(done)/float64(total))
	}
	if s := elapsed.Seconds(); s > 0 && done > before {
		p.PerSecond = float64(done-before) / s
		if total > done {
			p.Left = time.Duration(float64(total-done) / p.PerSecond * float64(time.Second)).Round(time.Second)
		}
	}
	return p
}
