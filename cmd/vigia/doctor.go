package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/vigiahq/vigia/internal/platform/config"
)

// doctorCmd is 'vigia doctor'. It takes the flags of serve, because it checks the installation that they would start.
type doctorCmd struct {
	config.Serve
}

func (doctorCmd) Help() string {
	return "Looks at a set-up without changing anything, and explains what is wrong and what to do about it: " +
		"configuration, data folder, disk,\n" +
		"root key and keys, database and pooler, corpora, addresses, public URLs, balancer, certificates, clock and " +
		"webhook ranges. Give it the same flags and variables as the server. It ends with\n" +
		"code 1 when something would keep the service from working; warnings do not. For what is inside the " +
		"database: vigia check.\n\n" +
		"Examples:\n  vigia doctor --data /var/lib/vigia --listen :8080\n  vigia doctor --json | jq '.findings[] | " +
		"select(.state != \"ok\")'"
}

// diagnosis is what one look found. Remedy is empty where nothing is to be done.
type diagnosis struct {
	Area   string `json:"area"`
	State  string `json:"state"`
	Found  string `json:"found"`
	Remedy string `json:"remedy,omitempty"`
}

const (
	stateOK      = "ok"
	stateWarning = "warning"
	stateProblem = "problem"
)

// checkup is the set-up under examination. Every look adds to list and none stops the others.
type checkup struct {
	common config.Common
	serve  config.Serve
	now    time.Time
	list   []diagnosis
}

// reportOK notes that something is in order.
func (p *checkup) reportOK(area, format string, args ...any) {
	p.list = append(p.list, diagnosis{area, stateOK, fmt.Sprintf(format, args...), ""})
}

// reportWarning notes what should be looked at.
func (p *checkup) reportWarning(area, found, remedy string) {
	p.list = append(p.list, diagnosis{area, stateWarning, found, remedy})
}

// reportProblem notes what has to be mended.
func (p *checkup) reportProblem(area, found, remedy string) {
	p.list = append(p.list, diagnosis{area, stateProblem, found, remedy})
}

// errSick makes the command end with code 1; what is wrong has been said by then.
var errSick = errors.New("the set-up has problems that keep the service from working")

func (d *doctorCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	p := &checkup{common: *c, serve: d.Serve, now: time.Now()}
	p.configuration()
	p.checkFolder()
	p.checkDisk()
	p.checkUser()
	p.checkReader(ctx)
	p.database(ctx, p.checkRoot())
	p.checkBucket(ctx)
	p.checkCorpora()
	p.addresses(ctx)
	p.checkServing()
	p.checkPublic(ctx)
	p.checkClock()
	p.webhooks()
	problems := 0
	for _, g := range p.list {
		if g.State == stateProblem {
			problems++
		}
	}
	err := o.printValue(
		map[string]any{"findings": p.list, "healthy": problems == 0}, func(w io.Writer) { o.diagnoses(w, p.list) },
	)
	if problems > 0 {
		err = errors.Join(err, errSick)
	}
	return err
}

// diagnoses writes the results for people: a mark, in colour on a terminal, then what was found and what to do.
func (o *output) diagnoses(w io.Writer, list []diagnosis) {
	marks := map[string]string{stateOK: "ok      ", stateWarning: "warning ", stateProblem: "PROBLEM "}
	if o.usesColours() {
		marks = map[string]string{
			stateOK:      "\x1b[32mok      \x1b[0m",
			stateWarning: "\x1b[33mwarning \x1b[0m",
			stateProblem: "\x1b[31mPROBLEM \x1b[0m",
		}
	}
	for _, g := range list {
		_, _ = fmt.Fprintf(w, "%s %-14s %s\n", marks[g.State], g.Area, g.Found)
		if g.Remedy != "" {
			_, _ = fmt.Fprintf(w, "%24s-> %s\n", "", g.Remedy)
		}
	}
}

// usesColours reports whether results are written to a terminal whose user did not opt out of colours (no-color.org).
func (o *output) usesColours() bool {
	f, ok := o.w.(*os.File)
	return ok && os.Getenv("NO_COLOR") == "" && term.IsTerminal(int(f.Fd()))
}

// configuration reports every problem of flags and variables that would keep 'vigia serve' from starting.
func (p *checkup) configuration() {
	var problems config.Problems
	if err := p.serve.CheckServe(p.common); errors.As(err, &problems) {
		for _, text := range problems {
			p.reportProblem("configuration", text, "vigia serve --help, or docs/configuration.md")
		}
		return
	}
	p.reportOK("configuration", "flags and variables make sense")
}

// oneLineReason returns an error's text on one line.
func oneLineReason(err error) string {
	return strings.Join(strings.Fields(err.Error()), " ")
}
