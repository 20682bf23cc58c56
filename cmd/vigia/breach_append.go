package main

import (
	"context"
	"errors"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/platform/config"
)

// breachAppendCmd is 'vigia breach append', which adds what is new in further files to a published breach.
type breachAppendCmd struct {
	breachName
	config.Outgoing
	importOpening
	NoPairs bool     `help:"Keep nothing of the passwords that stand beside identifiers. So it is for a breach that was imported without pairs."`
	Workers int      `placeholder:"N" help:"Scan with so many threads; 0 means one per core."`
	Force   bool     `help:"Go on even if nothing was found, or most of it could not be read."`
	Inputs  []string `arg:"" name:"input" help:"Files, folders, https addresses and objects of a bucket, as of breach import."`
}

func (breachAppendCmd) Help() string {
	return "Adds what is new in further files. People who are found only now are told; so are those who were found " +
		"before, if the new records say more of them. The breach stays as it is until the new content is whole. " +
		"Ctrl-C stops cleanly; the same command goes on where it stopped. To correct what a breach holds, retract it " +
		"and import it anew under another name.\n\nExample:\n  vigia breach append loja-exemplo second-part.7z"
}

func (b *breachAppendCmd) Run(ctx context.Context, open opener, o *output) error {
	boundMemory()
	spec, err := b.importSpec(ctx, b.Outgoing, b.Inputs)
	if err != nil {
		return err
	}
	spec.Breach, spec.Force, spec.NoPairs = cyber.Breach{Name: b.Name}, b.Force, b.NoPairs
	a, err := open()
	if err != nil {
		return err
	}
	a.Leaks.Importer.Workers = b.Workers
	b.setLimits(a.Leaks.Importer)
	bar := o.progress("append "+b.Name, "bytes")
	spec.Progress = func(p intake.Progress) {
		bar.before = p.Before
		bar.setProgress(p.Read, p.Total, countsText(p.Found))
	}
	out, err := a.Leaks.Foreground.AppendToBreach(ctx, spec)
	bar.clearLine()
	if errors.Is(err, context.Canceled) {
		return errors.New("stopped, the breach is as it was; run the same command again to go on")
	}
	if err != nil {
		return err
	}
	return o.matchAndShow(ctx, a, out)
}
