package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/vigiahq/vigia/internal/platform/job"
)

// progress shows how far long work has come: one line that changes on a terminal, with a bar, rate and time left; a
// line now and then elsewhere; always on standard error, so that it never mixes with a command's result.
type progress struct {
	w io.Writer
	// columns are those of the terminal; 0 where there is none.
	columns int
	label   string
	unit    string
	begin   time.Time
	said    time.Time
	// before is what an earlier run had done of the work.
	before int64
}

// sayEvery is how often a line is written where there is no terminal, and drawEvery where there is one.
const (
	sayEvery  = 5 * time.Second
	drawEvery = 100 * time.Millisecond
)

// progress starts one; unit is "bytes" or what is counted.
func (o *output) progress(label, unit string) *progress {
	p := &progress{w: o.err, label: label, unit: unit, begin: time.Now(), said: time.Now()}
	if f, ok := o.err.(*os.File); ok && !o.json {
		p.columns, _, _ = term.GetSize(int(f.Fd())) // none where it is no terminal
	}
	return p
}

// setProgress reports how much is done; total is 0 where it is unknown.
func (p *progress) setProgress(done, total int64, note string) {
	every := sayEvery
	if p.columns > 0 {
		every = drawEvery
	}
	if time.Since(p.said) < every {
		return
	}
	p.said = time.Now()
	line := p.progressLine(done, total, note)
	if p.columns == 0 {
		_, _ = fmt.Fprintln(p.w, line)
		return
	}
	p.drawLine(progressBar(done, total) + line)
}

// drawLine replaces the line on the terminal; it must not reach the last column, behind which the next line begins.
func (p *progress) drawLine(line string) {
	if room := max(p.columns-1, 0); len(line) > room { // labels are in ASCII
		line = line[:room]
	}
	_, _ = fmt.Fprintf(p.w, "\r\x1b[K%s", line) // a terminal that is gone stops nothing
}

// progressBar returns a bar as long as the share that is done; empty where the total is unknown.
func progressBar(done, total int64) string {
	const length = 20
	if total <= 0 {
		return ""
	}
	full := int(min(done, total) * length / total)
	return "[" + strings.Repeat("=", full) + strings.Repeat(" ", length-full) + "] "
}

// progressLine returns the line that shows how far it is.
func (p *progress) progressLine(done, total int64, note string) string {
	pace := job.EstimatePace(done, p.before, total, time.Since(p.begin))
	text := fmt.Sprintf("%s: %s", p.label, p.formatAmount(done))
	if pace.Percent >= 0 {
		text += fmt.Sprintf(" of %s (%.0f %%)", p.formatAmount(total), pace.Percent)
	}
	if pace.PerSecond > 0 {
		text += fmt.Sprintf(", %s/s", p.formatAmount(int64(pace.PerSecond)))
	}
	if pace.Left > 0 {
		text += fmt.Sprintf(", %v left", pace.Left)
	}
	if note != "" {
		text += ", " + note
	}
	return text
}

// formatAmount writes a number of the unit that is counted.
func (p *progress) formatAmount(n int64) string {
	if p.unit == "bytes" {
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%d %s", n, p.unit)
}

// clearLine clears the line on the terminal.
func (p *progress) clearLine() {
	if p.columns > 0 {
		p.drawLine("")
	}
}
