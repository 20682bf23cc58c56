package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/dump/reader"
)

// checkUser warns of a server that would run as root: whoever takes it over has the machine.
func (p *checkup) checkUser() {
	const area = "user"
	if app.IsRoot() {
		p.reportWarning(
			area,
			"this is root",
			"run server and commands as a user of their own: sudo -u vigia vigia doctor",
		)
		return
	}
	p.reportOK(area, "not root")
}

// checkReader starts a process that reads dumps, and says what it was able to give up here.
func (p *checkup) checkReader(ctx context.Context) {
	const area = "reader of dumps"
	started, err := reader.StartProcess(ctx, reader.Job{Workers: 1, Unconfined: true}, nil)
	if err != nil {
		p.reportProblem(area, oneLineReason(err), "let the service's user start processes: no dump can be imported")
		return
	}
	defer func() { _ = started.Close() }() // it has nothing to do
	c := started.Confinement
	if !c.IsConfined() && !p.common.ReaderUnconfined {
		p.reportProblem(area, "this system has neither Landlock nor seccomp: no dump is read",
			"import on Linux 5.13 or later, or give --reader-unconfined to read dumps that may take over this machine")
		return
	}
	var lacks []string
	for name, has := range map[string]bool{
		"Landlock":                 c.Landlock > 0,
		"seccomp":                  c.Seccomp,
		"no_new_privs":             c.NoNewPrivileges,
		"a limit of no open files": c.NoFiles,

		"a limit of its memory by the system":     c.DataLimit,
		"a look at its memory and processor time": c.Watched,
	} {
		if !has {
			lacks = append(lacks, name)
		}
	}
	slices.Sort(lacks)
	if len(lacks) > 0 {
		p.reportWarning(
			area,
			"this system lacks: "+strings.Join(lacks, ", "),
			"import dumps of strangers on Linux 5.13 or later; what is left of the limits holds",
		)
		return
	}
	p.reportOK(area, "confined by Landlock %d, seccomp, no_new_privs, no open files, %d MiB of memory, time",
		c.Landlock, reader.Memory>>20)
}

// checkClock compares with the only two clocks that are at hand: when this program was made, and when the database was
// written.
func (p *checkup) checkClock() {
	const area = "clock"
	if made, ok := buildTime(); ok && p.now.Before(made.Add(-time.Hour)) {
		p.reportProblem(
			area,
			fmt.Sprintf("it says %s, before this program was made", formatTime(p.now)),
			"set the clock: signatures, keys and expiry dates depend on it",
		)
		return
	}
	if info, err := os.Stat(filepath.Join(p.common.Data, "vigia.db")); err == nil &&
		info.ModTime().After(p.now.Add(2*time.Minute)) {
		p.reportProblem(
			area,
			fmt.Sprintf(
				"it says %s, but the database was written at %s", formatTime(p.now), formatTime(info.ModTime()),
			),
			"set the clock, or find out what set it back",
		)
		return
	}
	p.reportOK(area, "%s", formatTime(p.now))
}
