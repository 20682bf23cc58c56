package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/intake"
	"github.com/vigiahq/vigia/internal/leak"
)

// breachRenewal is what the commands that change the content of a published breach have in common.
type breachRenewal struct {
	breachName
	config.Outgoing
	importOpening
	NoPairs bool     `help:"Keep nothing of the passwords that stand beside identifiers. So it is for a breach that was imported without pairs."`
	Workers int      `placeholder:"N" help:"Scan with so many threads; 0 means one per core."`
	Force   bool     `help:"Go on even if nothing was found, most of it could not be read, or, with relabel, it is not the dump that the breach was made from."`
	Inputs  []string `arg:"" name:"input" help:"Files, folders, https addresses and objects of a bucket, as of breach import."`
}

type (
	breachAppendCmd  struct{ breachRenewal }
	breachReplaceCmd struct{ breachRenewal }
	breachRelabelCmd struct{ breachRenewal }
)

const renewalHelp = "\n\nThe breach stays as it is until the new content is whole. Ctrl-C stops cleanly; the same command goes on where it stopped.\n\nExample:\n  "

// Help says what becomes of findings.
func (breachAppendCmd) Help() string {
	return "Adds what is new in further files. Whoever is found only now is told; so is whoever was found before, if the new records say more of them." +
		renewalHelp + "vigia breach append --name loja-exemplo second-part.7z"
}

// Help says what becomes of findings.
func (breachReplaceCmd) Help() string {
	return "Takes the content of the files for that of the breach, and the classes found in them for what it exposes. Findings that do not hold any " +
		"more are withdrawn, as by a retraction; what the records say beyond what was told is told; what they do not say any more is dropped without an alert." +
		renewalHelp + "vigia breach replace --name loja-exemplo right-dump.7z"
}

// Help says what becomes of findings.
func (breachRelabelCmd) Help() string {
	return "Scans the dump of a breach again and replaces what is told of each value: for breaches that were imported before records were told apart, or when " +
		"more of them can be told. A dump that holds less than 99 % of the breach's values, or of whose values the breach holds less, is refused. Findings " +
		"follow as by breach replace." + renewalHelp + "vigia breach relabel --name loja-exemplo dump.7z"
}

// Run appends.
func (b *breachAppendCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return b.run(ctx, c, o, intake.Append, "append")
}

// Run replaces.
func (b *breachReplaceCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return b.run(ctx, c, o, intake.Replace, "replace")
}

// Run relabels.
func (b *breachRelabelCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return b.run(ctx, c, o, intake.Relabel, "relabel")
}

func (b *breachRenewal) run(ctx context.Context, c *config.Common, o *output, way intake.Way, word string) error {
	boundMemory()
	spec, err := b.spec(ctx, b.Outgoing, b.Inputs)
	if err != nil {
		return err
	}
	spec.Breach, spec.Force, spec.NoPairs = cyber.Breach{Name: b.Name}, b.Force, b.NoPairs
	return withApp(ctx, c, func(a *app.App) error {
		a.Leaks.Importer.Workers = b.Workers
		b.bound(a.Leaks.Importer)
		bar := o.progress(word+" "+b.Name, "bytes")
		spec.Progress = func(p intake.Progress) {
			bar.before = p.Before
			bar.set(p.Read, p.Total, byType(p.Found))
		}
		out, err := a.RenewBreach(ctx, way, spec)
		bar.end()
		if errors.Is(err, context.Canceled) {
			return errors.New("stopped, the breach is as it was; run the same command again to go on")
		}
		if err != nil {
			return err
		}
		var match leak.MatchProgress
		if !out.Unchanged {
			matching := o.progress("match "+b.Name, "values")
			match, err = a.MatchBreach(ctx, b.Name, func(p leak.MatchProgress) { matching.set(p.Probed, 0, fmt.Sprintf("%d hits", p.Hits)) })
			matching.end()
			if err != nil {
				return err
			}
		}
		if out.Record, err = a.Leaks.Breaches.ByName(ctx, b.Name); err != nil { // with what the match has measured
			return err
		}
		return b.report(o, out, match)
	})
}

func (b *breachRenewal) report(o *output, out intake.Outcome, match leak.MatchProgress) error {
	view := struct {
		dumpView
		Unchanged bool `json:"unchanged"`
		// Of the findings that there were.
		Checked   int64 `json:"findings_checked"`
		Withdrawn int64 `json:"findings_withdrawn"`
		Changed   int64 `json:"findings_changed"`
	}{viewDump(out, match), out.Unchanged, match.Checked, match.Withdrawn, match.Changed}
	return o.print(view, func(w io.Writer) {
		view.dumpView.text(w)
		if view.Unchanged {
			_, _ = fmt.Fprintln(w, "Unchanged  the breach held all of it before")
			return
		}
		_, _ = fmt.Fprintf(w, "Findings   %d checked, %d withdrawn, %d changed\n", view.Checked, view.Withdrawn, view.Changed)
	})
}
