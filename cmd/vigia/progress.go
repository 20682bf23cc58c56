package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/vigiahq/vigia/internal/job"
)

// progress shows how far long work has come: a bar with rate and time left on a terminal, a line now and then
// elsewhere, always on standard error, so that it never mixes with a command's result.
type progress struct {
	w     io.Writer
	bar   *progressbar.ProgressBar // nil where there is no terminal
	label string
	unit  string
	begin time.Time
	said  time.Time
	// before is what an earlier run had done of the work.
	before int64
}

// sayEvery is how often a line is written where there is no terminal.
const sayEvery = 5 * time.Second

// progress starts one; unit is "bytes" or what is counted.
func (o *output) progress(label, unit string) *progress {
	p := &progress{w: o.err, label: label, unit: unit, begin: time.Now(), said: time.Now()}
	if f, ok := o.err.(*os.File); ok && term.IsTerminal(int(f.Fd())) && !o.json {
		p.bar = progressbar.NewOptions64(-1, progressbar.OptionSetWriter(o.err), progressbar.OptionSetDescription(label),
			progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false), // line tells both, as the console does
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	}
	return p
}

// set says how far it is; total is 0 where nobody knows.
func (p *progress) set(done, total int64, note string) {
	if p.bar != nil {
		if total > 0 && p.bar.GetMax64() != total {
			p.bar.ChangeMax64(total)
		}
		p.bar.Describe(p.line(done, total, note))
		_ = p.bar.Set64(done) // a terminal that is gone stops nothing
		return
	}
	if time.Since(p.said) < sayEvery {
		return
	}
	p.said = time.Now()
	_, _ = fmt.Fprintln(p.w, p.line(done, total, note))
}

func (p *progress) line(done, total int64, note string) string {
	pace := job.PaceOf(done, p.before, total, time.Since(p.begin))
	text := fmt.Sprintf("%s: %s", p.label, p.amount(done))
	if pace.Percent >= 0 {
		text += fmt.Sprintf(" of %s (%.0f %%)", p.amount(total), pace.Percent)
	}
	if pace.PerSecond > 0 {
		text += fmt.Sprintf(", %s/s", p.amount(int64(pace.PerSecond)))
	}
	if pace.Left > 0 {
		text += fmt.Sprintf(", %v left", pace.Left)
	}
	if note != "" {
		text += ", " + note
	}
	return text
}

func (p *progress) amount(n int64) string {
	if p.unit == "bytes" {
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%d %s", n, p.unit)
}

// end clears the bar.
func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
