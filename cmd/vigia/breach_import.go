package main

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/container"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/config"
)

// breachFlags describe a breach.
type breachFlags struct {
	Title       *string  `placeholder:"TEXT" help:"What people read."`
	Date        *string  `placeholder:"YYYY-MM-DD" help:"When it happened."`
	Exposes     []string `placeholder:"CLASS" help:"What it exposes, separated by commas: email, password, password_hash, cpf, phone, card, address, name, birth_date, document, health, financial, cookies, ip_address, username, other. Of an import also auto: those that are found; so it is without this flag."`
	Kind        *string  `placeholder:"KIND" help:"breach, combolist, stealer, paste or phish; default is breach."`
	Source      *string  `placeholder:"TEXT" help:"Where it comes from."`
	Description *string  `placeholder:"TEXT" help:"What happened."`
	Verified    *bool    `negatable:"" help:"It is known to be real."`
	Fabricated  *bool    `negatable:"" help:"It is known to be made up, in whole or in part."`
	SpamList    *bool    `negatable:"" help:"It is a list of addresses to send spam to."`
}

func (f *breachFlags) applyFlags(b *cyber.Breach) error {
	setIfGiven(&b.Title, f.Title)
	setIfGiven(&b.Source, f.Source)
	setIfGiven(&b.Description, f.Description)
	setIfGiven(&b.Verified, f.Verified)
	setIfGiven(&b.Fabricated, f.Fabricated)
	setIfGiven(&b.SpamList, f.SpamList)
	if f.Kind != nil {
		b.Kind = cyber.SourceKind(*f.Kind)
	}
	if len(f.Exposes) > 0 {
		b.Exposes = leak.ParseExposes(f.Exposes)
	}
	if f.Date == nil {
		return nil
	}
	day, err := leak.ParseBreachDay(*f.Date)
	b.Date = day
	return err
}

// breachImportCmd is 'vigia breach import', which searches dumps of any format for identifiers.
type breachImportCmd struct {
	Name string `arg:"" name:"name" help:"Short name: a-z, 0-9, '-', '_' and '.'."`
	breachFlags
	config.Outgoing
	importOpening
	DryRun  bool     `help:"Print the first ten records as they are understood, and write nothing."`
	Force   bool     `help:"Publish even if nothing was found, or most of it could not be read."`
	NoPairs bool     `help:"Keep nothing of the passwords that stand beside identifiers: credential-check does not know this breach."`
	Workers int      `placeholder:"N" help:"Scan with so many threads; 0 means one per core."`
	Inputs  []string `arg:"" name:"input" help:"Files, folders, https addresses and objects of a bucket (s3://bucket/prefix?region=...). Archives and compression of any depth are read."`
}

func (breachImportCmd) Help() string {
	return "Values are not kept: of each identifier a keyed fingerprint stays, with the classes of data in its " +
		"record and, from stealer logs, sites and the day; of passwords beside it, keyed pairs unless --no-pairs is " +
		"given. Ctrl-C stops cleanly; the same command goes on where it stopped.\n\n" +
		"Examples:\n  vigia breach import loja-exemplo --title 'Loja Exemplo' --date 2026-03-01 --exposes " +
		"email,password dump.7z\n" +
		"  vigia breach import colecao --title Coleção --date 2025-01-01 --exposes email,password --kind " +
		"combolist folder/\n" +
		"  vigia breach import balde --title Balde --date 2025-01-01 's3://dumps/2025/?region=sa-east-1'\n" +
		"  vigia breach import nimbo-2026-03 --mapping nimbo.yaml --title 'Nimbo, março' --date 2026-03-01 " +
		"nimbo.csv.gz"
}

func (b *breachImportCmd) Run(ctx context.Context, c *config.Common, open opener, o *output) error {
	boundMemory()
	breach := cyber.Breach{Name: b.Name}
	if err := b.applyFlags(&breach); err != nil {
		return err
	}
	spec, err := b.importSpec(ctx, b.Outgoing, b.Inputs)
	if err != nil {
		return err
	}
	spec.Breach, spec.Force, spec.NoPairs = breach, b.Force, b.NoPairs
	// A preview needs no installation, so it comes before open.
	if b.DryRun {
		return b.previewRecords(ctx, o, spec, c.ReaderUnconfined)
	}
	a, err := open()
	if err != nil {
		return err
	}
	a.Leaks.Importer.Workers = b.Workers
	b.setLimits(a.Leaks.Importer)
	bar := o.progress("import "+b.Name, "bytes")
	spec.Progress = func(p intake.Progress) {
		note := countsText(p.Found)
		if p.Merging {
			note += ", merging"
		}
		bar.before = p.Before
		bar.setProgress(p.Read, p.Total, note)
	}
	out, err := a.Leaks.Foreground.ImportBreach(ctx, spec)
	bar.clearLine()
	switch {
	case errors.Is(err, context.Canceled):
		return fmt.Errorf(
			"stopped; run the same command again to go on, or give it up: vigia breach retract %s", b.Name,
		)
	case errors.Is(err, intake.ErrDoubtful):
		return errors.Join(o.showRecord(withSkips(viewBreach(out.Record), out.Skips)), err)
	case err != nil:
		return err
	}
	return o.matchAndShow(ctx, a, out)
}

// matchAndShow looks the watched values up in what was imported, and shows what came of both.
func (o *output) matchAndShow(ctx context.Context, a *app.App, out intake.Outcome) (err error) {
	name := out.Record.Name
	var match leak.MatchProgress
	if !out.Unchanged {
		matching := o.progress("match "+name, "values")
		match, err = a.Leaks.Foreground.MatchBreach(
			ctx, name, func(p leak.MatchProgress) { matching.setProgress(p.Probed, 0, fmt.Sprintf("%d hits", p.Hits)) },
		)
		matching.clearLine()
		if err != nil {
			return fmt.Errorf(
				"%s is published; the watched values were not all looked up in it, which a server tries again by "+
					"itself: %w",
				name,
				err,
			)
		}
	}
	if out.Record, err = a.Leaks.Breaches.FindBreach(ctx, name); err != nil { // with what the match has measured
		return err
	}
	view := viewBreach(out.Record).withPairs(
		"values_probed", match.Probed,
		"values_found", match.Hits,
		"unchanged", out.Unchanged,
		"findings_checked", match.Checked,
		"findings_withdrawn", match.Withdrawn,
		"findings_changed", match.Changed,
	)
	return o.showRecord(withSkips(view, out.Skips))
}

// withSkips adds what could not be read of a dump.
func withSkips(view record, skips []container.Skip) record {
	return view.withPairs("skipped", makeRecords(skips, func(s container.Skip) record {
		return newRecord("name", s.Name, "offset", s.Offset, "reason", s.Reason)
	}))
}

// previewed is how many records a dry run shows.
const previewed = 10

// previewRecords prints what an import would make of the first records. What the operator's own file holds is shown to
// the operator alone: it goes neither to a log nor to disk.
func (b *breachImportCmd) previewRecords(ctx context.Context, o *output, spec intake.Spec, unconfined bool) error {
	im := intake.Importer{Now: time.Now, ReaderUnconfined: unconfined}
	b.setLimits(&im)
	seen, tally, err := im.PreviewRecords(ctx, spec, previewed)
	if err != nil {
		return err
	}
	view := newRecord("records", makeRecords(seen, func(u intake.Understood) record {
		values := makeRecords(
			u.Values, func(v intake.UnderstoodValue) record { return newRecord("type", v.Kind, "value", v.Normal) },
		)
		infected := ""
		if u.Day != 0 {
			infected = time.Unix(int64(u.Day)*86400, 0).UTC().Format(time.DateOnly)
		}
		return newRecord(
			"values", values,
			"exposes", exposedWords(uint16(u.Classes)),
			"site", u.Site,
			"infected", infected,
			"pair", u.Password,
		)
	}))
	if tally == nil {
		return o.showRecord(view, "Nothing was written. The inputs were not read to their end.")
	}
	return o.showRecord(
		view.withPairs("values_left_out", tally.LeftOut, "reasons", tally.Reasons), "Nothing was written.",
	)
}

// exposedWords returns the classes of data in a record, in the words of the vocabulary.
func exposedWords(classes uint16) []string {
	words, all := []string{}, cyber.AllExposed()
	for left := classes; left != 0; left &= left - 1 {
		words = append(words, string(all[bits.TrailingZeros16(left)]))
	}
	return words
}
